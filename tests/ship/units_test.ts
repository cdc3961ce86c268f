// Static tests of the systemd units and the Dockerfile.
import { assert, assertEquals } from "@std/assert";
import { apiProgram } from "@sig/api/internal/sig-api";
import { variableName } from "@sig/api/program";
import { webProgram } from "@sig/web/sig-web";
import { EXECUTABLES } from "../../tools/programs.ts";
import { ROOT } from "../../tools/workspace.ts";
import { hasProgram, run } from "../kit/process.ts";

// promise: The units of systemd are rated below 3 by `systemd-analyze
//   security`.

const ANALYZE = "systemd-analyze";
const EXAMPLES = new URL("examples/", ROOT).pathname;
const VARIABLES = new Set(
  [apiProgram, webProgram].flatMap(({ name, flags }) =>
    flags.map((flag) => variableName(name, flag.name))
  ),
);

async function read(path: string): Promise<string> {
  return await Deno.readTextFile(EXAMPLES + path);
}

/** Returns the servers' variables that a text sets. */
function variablesOf(text: string): readonly string[] {
  return [...text.matchAll(/\b(SIG_[A-Z_]+)=/g)].map(([, name]) => name!);
}

for (const name of ["sig-api", "sig-web"]) {
  Deno.test({
    name: `${name}.service has a low exposure in systemd-analyze`,
    ignore: !hasProgram(ANALYZE),
    async fn() {
      const path = `${EXAMPLES}systemd/${name}.service`;
      const { code, stdout, stderr } = await run(ANALYZE, [
        ...["security", "--offline=true", "--threshold=30", "--no-pager"],
        path,
      ]);
      // systemd-analyze reports unknown settings on stderr.
      assertEquals([code, stderr], [0, ""], stdout);
    },
  });

  Deno.test(`${name}.service starts an existing program with existing settings`, async () => {
    const text = await read(`systemd/${name}.service`);
    const [, program = "", command] =
      /^ExecStart=\/usr\/local\/bin\/(\S+) (\S+)/m
        .exec(text) ?? [];
    assert(EXECUTABLES.some((each) => each.name === program), program);
    const isWhole = program === name || `${program}-${command}` === name;
    assert(isWhole, `${program} ${command}`);
    for (const variable of variablesOf(text)) assert(VARIABLES.has(variable));
  });
}

Deno.test("the Dockerfile copies the compiled files and has this project's Deno version", async () => {
  const text = await read("docker/Dockerfile");
  const copied = [...text.matchAll(/--from=build \/src\/dist\/(\S+) (\S+)/g)];
  assertEquals(copied.map(([, name]) => name), ["sig-api", "sig-web"]);
  for (const [, name, path] of copied) {
    assert(EXECUTABLES.some((each) => each.name === name));
    assert(text.includes(`ENTRYPOINT ["${path}"]`), path);
  }
  assert(text.includes(`FROM denoland/deno:${Deno.version.deno} AS build`));
  const variables = variablesOf(text);
  assertEquals(variables, ["SIG_API_ADDR", "SIG_WEB_ADDR"]);
  for (const variable of variables) assert(VARIABLES.has(variable), variable);
});
