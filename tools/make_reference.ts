/**
 * Writes the pages of `docs/reference`, from the code that they describe, and
 * the index of promises in `SECURITY.md`, from marks in the tests. With
 * `--check` it writes nothing and fails if a page is out of date.
 *
 * @module
 */

import { commandPage } from "./reference/command_page.ts";
import { configurationPage } from "./reference/configuration_page.ts";
import { findingPage } from "./reference/finding_page.ts";
import { httpPage } from "./reference/http_page.ts";
import { INDEX_START, promisesIndex } from "./reference/promises.ts";

const FOLDER = new URL("../docs/reference/", import.meta.url);

async function format(markdown: string): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--ext", "md", "-"],
    cwd: FOLDER,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(markdown));
  await writer.close();
  const { code, stdout, stderr } = await child.output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

const NOTE =
  "<!-- Made by `deno task docs`. Change the code, not this page. -->";

const SECURITY = "../../SECURITY.md";
const security = await Deno.readTextFile(new URL(SECURITY, FOLDER));

const pages = {
  "command-line.md": `${NOTE}\n\n${commandPage()}`,
  "configuration.md": `${NOTE}\n\n${configurationPage()}`,
  "findings.md": `${NOTE}\n\n${findingPage()}`,
  "http.md": `${NOTE}\n\n${await httpPage()}`,
  [SECURITY]: security.split(INDEX_START)[0] + promisesIndex(),
};
const isCheck = Deno.args.includes("--check");
const stale: string[] = [];
for (const [name, text] of Object.entries(pages)) {
  const file = new URL(name, FOLDER);
  const page = await format(text);
  if (page === await Deno.readTextFile(file).catch(() => undefined)) continue;
  stale.push(name);
  if (!isCheck) await Deno.writeTextFile(file, page);
}
if (isCheck && stale.length > 0) {
  console.error(`Stale: ${stale.join(", ")}. Run: deno task docs`);
  Deno.exit(1);
}
