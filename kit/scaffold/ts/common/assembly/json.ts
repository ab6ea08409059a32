// A reader for JSON, and quote to write it. Documents are the host's: they are read
// as far as somebody asks, and not checked.

// Json is a value in a document, or none.
export class Json {
  constructor(
    private doc: string,
    private at: i32, // where it begins, -1 where there is none
    private end: i32,
  ) {}

  static parse(doc: string): Json {
    return valueAt(doc, 0);
  }

  get exists(): bool {
    return this.at >= 0;
  }

  // get is the value under a key of an object.
  get(key: string): Json {
    if (!this.begins("{")) return none();
    let name = valueAt(this.doc, this.at + 1);
    while (name.exists) {
      const value = valueAt(this.doc, name.end);
      if (name.is(key) || !value.exists) return value;
      name = valueAt(this.doc, value.end);
    }
    return none();
  }

  // items are the values of a list.
  items(): Json[] {
    const list: Json[] = [];
    if (!this.begins("[")) return list;
    let value = valueAt(this.doc, this.at + 1);
    while (value.exists) {
      list.push(value);
      value = valueAt(this.doc, value.end);
    }
    return list;
  }

  // text is the text of a string, "" where the value is none.
  get text(): string {
    if (!this.begins('"')) return "";
    const raw = this.doc.substring(this.at + 1, this.end - 1);
    return raw.includes("\\") ? unescape(raw) : raw;
  }

  // int and bool are the value, or otherwise where it is something else.
  int(otherwise: i32): i32 {
    const value = this.exists ? F64.parseFloat(this.doc.substring(this.at, this.end)) : NaN;
    return isNaN(value) ? otherwise : <i32>value;
  }

  bool(otherwise: bool): bool {
    return this.begins("t") || (otherwise && !this.begins("f"));
  }

  // is reports whether the value is this text, written without escapes.
  is(text: string): bool {
    return this.end - this.at == text.length + 2 && this.begins('"') && this.doc.startsWith(text, this.at + 1);
  }

  private begins(c: string): bool {
    return this.exists && this.doc.charCodeAt(this.at) == c.charCodeAt(0);
  }
}

// quote writes a text as a JSON string.
export function quote(text: string): string {
  let length = text.length + 2;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x20) length += 5;
    else if (c == 0x22 || c == 0x5c) length++;
  }
  const out = new StaticArray<u16>(length);
  let at = 0;
  out[at++] = 0x22;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x20) {
      const escape = "\\u00" + (c < 0x10 ? "0" : "1") + (c & 15).toString(16);
      for (let k = 0; k < 6; k++) out[at++] = <u16>escape.charCodeAt(k);
      continue;
    }
    if (c == 0x22 || c == 0x5c) out[at++] = 0x5c;
    out[at++] = <u16>c;
  }
  out[at++] = 0x22;
  return asString(out, at);
}

function asString(units: StaticArray<u16>, length: i32): string {
  return String.UTF16.decodeUnsafe(changetype<usize>(units), <usize>length << 1);
}

function none(): Json {
  return new Json("", -1, -1);
}

// valueAt is the next value from a place on, none where a list or an object ends.
function valueAt(doc: string, at: i32): Json {
  while (at < doc.length && isSpace(doc.charCodeAt(at))) at++;
  if (at >= doc.length || doc.charCodeAt(at) == 0x7d || doc.charCodeAt(at) == 0x5d) return none();
  return new Json(doc, at, endOf(doc, at));
}

// isSpace takes what stands between values for space.
function isSpace(c: i32): bool {
  return c <= 0x20 || c == 0x2c || c == 0x3a;
}

// endOf is where the value that begins at a place ends.
function endOf(doc: string, at: i32): i32 {
  let depth = 0;
  for (; at < doc.length; at++) {
    const c = doc.charCodeAt(at);
    if (c == 0x22) {
      for (at++; at < doc.length && doc.charCodeAt(at) != 0x22; at++) {
        if (doc.charCodeAt(at) == 0x5c) at++;
      }
      if (depth == 0) return at + 1;
    } else if (c == 0x7b || c == 0x5b) {
      depth++;
    } else if (c == 0x7d || c == 0x5d) {
      if (--depth < 0) return at;
      if (depth == 0) return at + 1;
    } else if (depth == 0 && isSpace(c)) {
      return at;
    }
  }
  return at;
}

function unescape(raw: string): string {
  const out = new StaticArray<u16>(raw.length);
  let at = 0;
  for (let i = 0; i < raw.length; i++) {
    let c = raw.charCodeAt(i);
    if (c == 0x5c) {
      c = raw.charCodeAt(++i);
      if (c == 0x75) {
        c = <i32>parseInt(raw.substring(i + 1, i + 5), 16);
        i += 4;
      } else if (c == 0x6e) c = 0x0a;
      else if (c == 0x74) c = 0x09;
      else if (c == 0x72) c = 0x0d;
      else if (c == 0x62) c = 0x08;
      else if (c == 0x66) c = 0x0c;
    }
    out[at++] = <u16>c;
  }
  return asString(out, at);
}
