import { inWorkspace, workspaceTest as test } from "../testdata/workspace.ts";

const LOGIN = "--login https://login.acme.example --app";

test("refuses Traefik on the host of the login, since Traefik can't remove cookies", async (workspace) => {
  for (const app of ["login.acme.example", "login.acme.example:8443"]) {
    await workspace.refused(
      `export gate-traefik ${LOGIN} ${app}`,
      "invalid_request: Cannot run: --app needs another host name than --login",
    );
  }
});

Deno.test("refuses a login or an application that is not a host", async (t) => {
  await inWorkspace(async (workspace) => {
    for (
      const [words, message] of [
        ["--app a.example", "--login is required"],
        ["--login https://a.example", "--app is required"],
        ["--login a.example --app b.example", "without a path"],
        ["--login https://a.example/x --app b.example", "without a path"],
        ["--login ftp://a.example --app b.example", "without a path"],
        [`${LOGIN} https://b.example`, "must be a host"],
        [`${LOGIN} 'b.example; return 200'`, "must be a host"],
        [`${LOGIN} $host`, "must be a host"],
        [`${LOGIN} b.example/x`, "must be a host"],
        [`${LOGIN} a.example --upstream http://a.example/x`, "--upstream"],
        [`${LOGIN} a.example --dir x`, "--dir does not apply to gate-nginx"],
      ] as const
    ) {
      await t.step(words, async () => {
        await workspace.refused(`export gate-nginx ${words}`, message);
      });
    }
  });
});
