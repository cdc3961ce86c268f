// Generates a client from /openapi.json. A program must read the decision without
// a cast, from a real server.
import { assertEquals } from "@std/assert";
import { EXAMPLE_FEED } from "../../api/testdata/example_feed.ts";
import { lacks, runWell, tempFolder } from "../kit/process.ts";
import { ServerProcess } from "../kit/server_process.ts";

/** Arguments of `npx`; `DOCUMENT` is replaced by the URL of the document. */
const ARGS =
  "-p typescript@5.9.3 -p openapi-typescript@7.13.0 openapi-typescript DOCUMENT -o types.ts";

const IMPORTS = `
import createClient from "npm:openapi-fetch@0.17.0";
import type { paths } from "./types.ts";
`;

/** One question, and two in a batch. */
const ASK = `
const [baseUrl = ""] = Deno.args;
const { feed } = JSON.parse(await Deno.readTextFile("feed.json"));
const question = {
  feed,
  subject: "did:web:alice.example",
  require: ["role=deploy"],
};
const checks = [question, { ...question, subject: "did:web:bob.example" }];
const client = createClient<paths>({ baseUrl });
const one = await client.POST("/v1/check", { body: question });
const several = await client.POST("/v1/check/batch", { body: { checks } });
`;

const PRINT = `
const decision: "allow" | "deny" | undefined = one.data?.decision;
const decisions = several.data?.results.map((result) =>
  "error" in result ? result.error.code : result.decision
);
console.log(JSON.stringify([decision, decisions]));
`;

Deno.test({
  name:
    "openapi-typescript generates types whose decision a program reads without a cast",
  ignore: lacks("npx"),
  fn: async () => {
    await using server = await ServerProcess.start("api");
    await using folder = await tempFolder();
    const options = { cwd: folder.path };
    await runWell("npx", [
      ...["-y", "--prefer-offline"],
      ...ARGS.replace("DOCUMENT", `${server.url}/openapi.json`).split(" "),
    ], options);
    await Deno.writeTextFile(
      `${folder.path}/program.ts`,
      IMPORTS + ASK + PRINT,
    );
    await Deno.writeTextFile(
      `${folder.path}/feed.json`,
      JSON.stringify({ feed: EXAMPLE_FEED }),
    );
    const flags = ["--quiet", "--check", "--sloppy-imports", "--no-lock"];
    const said = await runWell(
      Deno.execPath(),
      ["run", ...flags, "-A", "program.ts", server.url],
      options,
    );
    assertEquals(JSON.parse(said), ["allow", ["allow", "deny"]]);
  },
});
