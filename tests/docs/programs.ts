/** The programs that the documents' commands need. @module */

const PROGRAMS = [
  ...["bash", "curl", "openssl", "grep", "sed", "sha256sum", "tar"],
];

/** Those that this machine lacks; all of them where it is no Linux. */
export async function missingPrograms(): Promise<readonly string[]> {
  if (Deno.build.os !== "linux") return ["linux"];
  const missing: string[] = [];
  for (const program of PROGRAMS) {
    if (!await hasProgram(program)) missing.push(program);
  }
  return missing;
}

/** Whether a program is in the PATH. */
export async function hasProgram(name: string): Promise<boolean> {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const found = await Promise.all(
    folders.map((folder) =>
      Deno.stat(`${folder}/${name}`).then(() => true, () => false)
    ),
  );
  return found.includes(true);
}
