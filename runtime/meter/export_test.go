package meter

// What tests compare with.
var WeightOf = weightOf

const (
	WeightImport   = weightImport
	WeightDispatch = weightDispatch
	BytesShift     = bytesShift
	LongPath       = longPath
)
