import { assertEquals } from "@std/assert";
import { parseSessions, runSession } from "../testdata/session.ts";

/** The commands and the whole outputs of each module: `set_test.txt`, … */
const FOLDER = new URL(".", import.meta.url);
const RECORDS = Deno.env.get("SIG_RECORD") !== undefined;

const FILES = Array.from(Deno.readDirSync(FOLDER), ({ name }) => name)
  .filter((name) => name.endsWith("_test.txt")).sort();

for (const file of FILES) {
  const path = new URL(file, FOLDER);
  const text = await Deno.readTextFile(path);
  const head = text.slice(0, text.search(/^# /m));
  const ran: string[] = [];
  const sessions = parseSessions(text);
  for (const session of sessions) {
    Deno.test(`${file.replace("_test.txt", "")}: ${session.name}`, async () => {
      const found = await runSession(session, text);
      ran.push(found);
      const [part] = text.split(/^(?=# )/m).filter((each) =>
        each.startsWith(`# ${session.name}\n`)
      );
      if (!RECORDS) assertEquals(found, part!.trimEnd());
      else if (ran.length === sessions.length) {
        await Deno.writeTextFile(path, `${head}${ran.join("\n\n")}\n`);
      }
    });
  }
}
