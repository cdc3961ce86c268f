// Settings of real processes: a file, the environment, and what may be read of it.
import { assertEquals } from "@std/assert";
import { tempFolder } from "../kit/process.ts";
import { LEAST, runToEnd, ServerProcess } from "../kit/server_process.ts";

/** Which of three issuers a server may be asked about. */
async function listed(server: ServerProcess): Promise<readonly string[]> {
  const hosts = ["file.example", "variable.example", "flag.example"];
  const statuses = await Promise.all(hosts.map(async (issuer) => {
    const response = await fetch(`${server.url}/v1/check`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ issuer, subject: "a", require: ["role=a"] }),
    });
    return (await response.json()).code;
  }));
  return hosts.filter((_, i) => statuses[i] !== "issuer_not_allowed");
}

Deno.test("flags come before variables, variables before the file", async () => {
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

Deno.test("with a narrower permission the known variables are read, and the log says so", async () => {
  for (const log of ["json", "text", "off"]) {
    await using server = await ServerProcess.start("api", ["--log", log], {
      permissions: [...LEAST, "--allow-env=SIG_API_ISSUER,SIG_API_ISUER"],
      env: {
        SIG_API_ISSUER: "variable.example",
        SIG_API_ISUER: "flag.example",
      },
    });
    assertEquals(await listed(server), ["variable.example"]);
    await server.stop();
    assertEquals(
      server.stderr.includes(
        "Variables SIG_API_… that sig-api does not know were not looked for",
      ),
      log !== "off",
      log,
    );
  }
});

Deno.test("a misspelt variable stops the start, and the error suggests the right one", async () => {
  for (const name of ["api", "web"] as const) {
    const variable = `SIG_${name.toUpperCase()}_MAX_AG`;
    const { code, stderr } = await runToEnd(name, [], {
      permissions: [...LEAST, "--allow-env"],
      env: { [variable]: "5m" },
    });
    assertEquals([code, stderr], [
      2,
      `sig-${name}: invalid_request: Cannot run: unknown variable "${variable}"\n` +
      `  hint: Did you mean ${variable}E?\n`,
    ]);
  }
});
