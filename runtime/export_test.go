package runtime

// DecodeOutput is seen by the fuzz targets alone.
var DecodeOutput = decodeOutput
