import { assertEquals, assertStringIncludes } from "@std/assert";
import { sig } from "../../cli/testdata/process.ts";
import { ROOT } from "../../tools/workspace.ts";
import { startServer, tempFolder } from "../kit/process.ts";

const FEED = "/.well-known/sig/events.jsonl";

Deno.test("the exported program serves an issuer with deno serve, with equal responses from all copies", async (t) => {
  await using folder = await tempFolder();
  const run = async (words: string) => {
    const ran = await sig(words.split(" "), { cwd: folder.path });
    assertEquals(ran.code, 0, ran.stderr);
    return ran.stdout;
  };
  await run("init acme.example");
  await run(
    "upsert --dir acme.example --subject did:web:a.example --type other",
  );
  await run("export deno-deploy --dir acme.example --out main.ts");
  const copy = `${folder.path}/copy`;
  await Deno.mkdir(`${copy}/acme.example/.well-known/sig`, { recursive: true });
  for (
    const name of [
      ...["main.ts", "acme.example/.well-known/did.json"],
      ...["acme.example/.well-known/jwks.json", `acme.example${FEED}`],
      "acme.example/.well-known/sig.json",
    ]
  ) await Deno.copyFile(`${folder.path}/${name}`, `${copy}/${name}`);
  const serve = (path: string) =>
    startServer(Deno.execPath(), [
      // The permissions of a deployment, which can read only its own files.
      ...["serve", "--no-prompt", "--allow-read", "--config"],
      ...[new URL("deno.json", ROOT).pathname, "--host", "127.0.0.1"],
      ...["--port", "0", `${path}/main.ts`],
    ], { cwd: path, env: { NO_COLOR: "1" } });
  await using first = await serve(folder.path);
  await using second = await serve(copy);

  await t.step("serves documents with the same tag in every copy", async () => {
    for (const path of ["/.well-known/did.json", FEED]) {
      const tags = [];
      for (const { origin } of [first, second]) {
        const response = await fetch(origin + path);
        const file = `${folder.path}/acme.example${path}`;
        assertEquals(await response.text(), await Deno.readTextFile(file));
        tags.push(response.headers.get("etag"));
      }
      assertEquals(tags[0], tags[1]);
    }
  });

  await t.step("answers 404 for everything else", async () => {
    for (const path of ["/.sig/lock", "/main.ts", "/", "/.well-known/"]) {
      const response = await fetch(first.origin + path);
      assertEquals(response.status, 404, path);
      assertStringIncludes(await response.text(), "not_found");
    }
  });
});
