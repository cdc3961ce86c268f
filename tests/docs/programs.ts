/** The programs that the documents' commands need. @module */

const PROGRAMS = [
  ...["bash", "curl", "openssl", "grep", "sed", "sha256sum", "shred", "tar"],
];

/** Those that this machine lacks; all of them where it is no Linux. */
export async function missingPrograms(): Promise<readonly string[]> {
  if (Deno.build.os !== "linux") return ["linux"];
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const missing: string[] = [];
  for (const program of PROGRAMS) {
    const found = await Promise.all(
      folders.map((folder) =>
        Deno.stat(`${folder}/${program}`).then(() => true, () => false)
      ),
    );
    if (!found.includes(true)) missing.push(program);
  }
  return missing;
}
