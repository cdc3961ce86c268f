import { assertEquals, assertStringIncludes } from "@std/assert";
import { sig } from "../../cli/testdata/process.ts";
import { ROOT } from "../../tools/workspace.ts";
import { startServer, tempFolder } from "../kit/process.ts";

const FEED = "/.well-known/sig/events.jsonl";

Deno.test("the exported program serves an issuer by deno serve, in copies that answer alike", async (t) => {
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
      // As little as a deployment may: it reads its own files.
      ...["serve", "--no-prompt", "--allow-read", "--config"],
      ...[new URL("deno.json", ROOT).pathname, "--host", "127.0.0.1"],
      ...["--port", "0", `${path}/main.ts`],
    ], { cwd: path, env: { NO_COLOR: "1" } });
  await using first = await serve(folder.path);
  await using second = await serve(copy);

  await t.step("documents, their types and tags", async () => {
    const types = {
      "/.well-known/did.json": "application/did+json",
      "/.well-known/jwks.json": "application/json",
      "/.well-known/sig.json": "application/json",
      [FEED]: "application/x-ndjson",
    };
    for (const [path, type] of Object.entries(types)) {
      const answers = [];
      for (const { origin } of [first, second]) {
        const { headers, status, ...response } = await fetch(origin + path)
          .then(async (each) => ({
            status: each.status,
            headers: each.headers,
            text: await each.text(),
          }));
        assertEquals(
          response.text,
          await Deno.readTextFile(`${folder.path}/acme.example${path}`),
        );
        assertEquals([status, headers.get("content-type")], [200, type]);
        assertEquals(headers.get("access-control-allow-origin"), "*");
        answers.push(headers.get("etag"));
      }
      assertEquals(answers[0], answers[1]);
      const { status, body } = await fetch(second.origin + path, {
        headers: { "if-none-match": answers[0]! },
      });
      assertEquals([status, body], [304, null]);
    }
  });

  await t.step("nothing else", async () => {
    for (const path of ["/.sig/lock", "/main.ts", "/", "/.well-known/"]) {
      const response = await fetch(first.origin + path);
      assertEquals(response.status, 404, path);
      assertStringIncludes(await response.text(), "not_found");
    }
  });
});
