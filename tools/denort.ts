/**
 * Takes the Deno runtime out of an executable made by `deno compile` (Linux,
 * Deno 2.0 to 2.7), for machines that can't download one:
 *
 * ```sh
 * deno run --allow-read --allow-write tools/denort.ts <executable> <runtime>
 * ```
 *
 * `deno compile` of the very same version uses it when `DENORT_BIN` names it.
 *
 * @module
 */

/** What stands before the program that `deno compile` appends. */
const MAGIC = "d3n0l4nd";

/**
 * The runtime: what comes before the appended program.
 *
 * @throws {RangeError} when there is none, or it is not an ELF file.
 */
export function cutRuntime(
  executable: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const view = new DataView(executable.buffer, executable.byteOffset);
  if (executable.length < 64 || view.getUint32(0) !== 0x7f454c46) {
    throw new RangeError("Cannot cut out a runtime: it must be an ELF file");
  }
  // The ELF header's e_shoff, e_shentsize and e_shnum: the table of sections
  // is the last part of the runtime.
  const end = Number(view.getBigUint64(0x28, true)) +
    view.getUint16(0x3a, true) * view.getUint16(0x3c, true);
  const magic = executable.subarray(end, end + MAGIC.length);
  if (new TextDecoder().decode(magic) !== MAGIC) {
    throw new RangeError("Cannot cut out a runtime: no program is appended");
  }
  return executable.subarray(0, end);
}

/** SHA-256 in hexadecimal digits. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(digest).toHex();
}

if (import.meta.main) {
  const [from, to] = Deno.args;
  if (from === undefined || to === undefined) {
    console.error("Usage: denort.ts <executable> <runtime>");
    Deno.exit(2);
  }
  const runtime = cutRuntime(await Deno.readFile(from));
  await Deno.writeFile(to, runtime, { mode: 0o755 });
  console.log(`${await sha256(runtime)}  ${to}`);
}
