// What asconfig.json has in the place of the compiler's abort. It is a library, so that
// it is there whatever the plugin imports.
import { Host, LogLevel } from "@extism/as-pdk";

// kagewasm_abort is called where an error is thrown: it logs what and where, and the
// call fails.
export function kagewasm_abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const what = message ? message : "abort";
  const where = file ? file : "?";
  Host.log(LogLevel.Error, `${what} (${where}:${line}:${column})`);
  unreachable();
}
