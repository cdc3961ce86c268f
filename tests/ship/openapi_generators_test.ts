// Generates clients from /openapi.json. Programs must read the decision without
// a cast, from a real server.
import { assertEquals } from "@std/assert";
import { EXAMPLE_FEED } from "../../api/testdata/example_feed.ts";
import { lacks, runWell, tempFolder } from "../kit/process.ts";
import { ServerProcess } from "../kit/server_process.ts";

/** A generator of npm, and a program that uses the generated client. */
interface Generator {
  readonly name: string;
  /** Arguments of `npx`; `DOCUMENT` is replaced by the URL of the document. */
  readonly args: string;
  /** The program, which sends `one` and `several` and returns `data`. */
  readonly program: string;
}

const GENERATORS: readonly Generator[] = [
  {
    name: "openapi-typescript",
    args:
      "-p typescript@5.9.3 -p openapi-typescript@7.13.0 openapi-typescript DOCUMENT -o types.ts",
    program: `
import createClient from "npm:openapi-fetch@0.17.0";
import type { paths } from "./types.ts";
const client = createClient<paths>({ baseUrl });
const one = await client.POST("/v1/check", { body: question });
const several = await client.POST("/v1/check/batch", { body: { checks } });
`,
  },
  {
    name: "hey-api",
    args:
      "-p typescript@5.9.3 -p @hey-api/openapi-ts@0.99.0 openapi-ts -i DOCUMENT -o client",
    program: `
import { client } from "./client/client.gen.ts";
import { check, checkBatch } from "./client/sdk.gen.ts";
client.setConfig({ baseUrl });
const one = await check({ body: question });
const several = await checkBatch({ body: { checks } });
`,
  },
];

/** Questions about two people. */
const ASK = `
const [baseUrl = ""] = Deno.args;
const { feed } = JSON.parse(await Deno.readTextFile("feed.json"));
const question = {
  feed,
  subject: "did:web:alice.example",
  require: ["role=deploy"],
};
const checks = [question, { ...question, subject: "did:web:bob.example" }];
`;

const PRINT = `
const decision: "allow" | "deny" | undefined = one.data?.decision;
const decisions = several.data?.results.map((result) =>
  "error" in result ? result.error.code : result.decision
);
console.log(JSON.stringify([decision, decisions]));
`;

for (const { name, args, program } of GENERATORS) {
  Deno.test({
    name:
      `${name} generates types whose decision a program reads without a cast`,
    ignore: lacks("npx"),
    fn: async () => {
      await using server = await ServerProcess.start("api");
      await using folder = await tempFolder();
      const options = { cwd: folder.path };
      await runWell("npx", [
        ...["-y", "--prefer-offline"],
        ...args.replace("DOCUMENT", `${server.url}/openapi.json`).split(" "),
      ], options);
      const imports = program.match(/^import .+$/gm)!.join("\n");
      const text = imports + ASK + program.replace(/^import .+$/gm, "") + PRINT;
      await Deno.writeTextFile(`${folder.path}/program.ts`, text);
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
}
