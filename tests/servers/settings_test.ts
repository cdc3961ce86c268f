// Settings of real processes from files and the environment, and the
// permissions that they need.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { tempFolder } from "../kit/process.ts";
import { askJson, LEAST, ServerProcess } from "../kit/server_process.ts";

/** Returns which of three issuers the server is configured with. */
async function listed(server: ServerProcess): Promise<readonly string[]> {
  const hosts = ["file.example", "variable.example", "flag.example"];
  const statuses = await Promise.all(hosts.map(async (issuer) => {
    const question = { issuer, subject: "a", require: ["role=a"] };
    return (await askJson(`${server.url}/v1/check`, question)).body.code;
  }));
  return hosts.filter((_, i) => statuses[i] !== "issuer_not_allowed");
}

Deno.test("flags override variables, and variables override the file", async () => {
  await using folder = await tempFolder();
  const file = `${folder.path}/api.yaml`;
  await Deno.writeTextFile(file, "issuer: [file.example]\nlog: json\n");
  const permissions = [...LEAST, `--allow-read=${file}`, "--allow-env"];
  const env = { SIG_API_ISSUER: "variable.example" };
  const rows = [
    [["--config", file], {}, ["file.example"]],
    [["--config", file], env, ["variable.example"]],
    [["--config", file, "--issuer", "flag.example"], env, ["flag.example"]],
  ] as const;
  for (const [args, env, expected] of rows) {
    await using server = await ServerProcess.start("api", args, {
      permissions,
      env,
    });
    assertEquals(await listed(server), expected);
    await server.stop();
    assertEquals(/not looked for/.test(server.stderr), false);
  }
});

Deno.test("with a narrow permission, reads the known variables and logs that others were not checked", async () => {
  await using server = await ServerProcess.start("api", [], {
    permissions: [...LEAST, "--allow-env=SIG_API_ISSUER,SIG_API_ISUER"],
    env: { SIG_API_ISSUER: "variable.example", SIG_API_ISUER: "flag.example" },
  });
  assertEquals(await listed(server), ["variable.example"]);
  await server.stop();
  assertStringIncludes(
    server.stderr,
    "Variables SIG_API_… that sig-api does not know were not looked for",
  );
});
