import { assertEquals } from "@std/assert";
import { parse } from "@std/yaml/parse";
import { inWorkspace, workspaceTest as test } from "../testdata/workspace.ts";

const GATE = [
  "--login",
  "https://login.acme.example",
  "--app",
  "wiki.acme.example",
];

test("gate-traefik is YAML that removes forged headers before the auth request", async (workspace) => {
  const { stdout } = await workspace.says([
    "export",
    "gate-traefik",
    ...GATE,
  ]);
  // deno-lint-ignore no-explicit-any -- any wrong shape fails below
  const { http } = parse(stdout) as any;
  assertEquals(http.routers["sig-app"].middlewares, [
    "sig-strip",
    "sig-login",
  ]);
  assertEquals(
    http.middlewares["sig-strip"].headers.customRequestHeaders,
    Object.fromEntries(
      ["User", "Groups", "Name"].flatMap((name) => [
        [`Remote-${name}`, ""],
        [`Remote_${name}`, ""],
      ]),
    ),
  );
  assertEquals(http.middlewares["sig-login"].forwardAuth, {
    address: "https://login.acme.example/forward-auth?redirect",
    trustForwardHeader: false,
    authResponseHeaders: ["Remote-User", "Remote-Groups", "Remote-Name"],
  });
  assertEquals(http.services["sig-app"].loadBalancer.servers, [{
    url: "http://127.0.0.1:3000",
  }]);
});

test("refuses Traefik on the host of the login, since Traefik can't remove cookies", async (workspace) => {
  for (const app of ["login.acme.example", "login.acme.example:8443"]) {
    const words = ["--login", "https://login.acme.example", "--app", app];
    await workspace.says([
      "export",
      "gate-traefik",
      ...words,
    ], {
      code: 2,
      err:
        "invalid_request: Cannot run: --app needs another host name than --login",
    });
  }
});

Deno.test("refuses a login or an application that is not a host", async (t) => {
  await inWorkspace(async (workspace) => {
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [["--app", "a.example"], "--login is required"],
      [["--login", "https://a.example"], "--app is required"],
      [["--login", "a.example", "--app", "b.example"], "without a path"],
      [
        ["--login", "https://a.example/x", "--app", "b.example"],
        "without a path",
      ],
      [["--login", "ftp://a.example", "--app", "b.example"], "without a path"],
      [
        ["--login", "https://a.example", "--app", "https://b.example"],
        "must be a host",
      ],
      [
        ["--login", "https://a.example", "--app", "b.example; return 200"],
        "must be a host",
      ],
      [["--login", "https://a.example", "--app", "$host"], "must be a host"],
      [
        ["--login", "https://a.example", "--app", "b.example/x"],
        "must be a host",
      ],
      [[...GATE, "--upstream", "http://a.example/x"], "--upstream"],
      [[...GATE, "--dir", "x"], "--dir means nothing to gate-nginx"],
    ];
    for (const [words, message] of wrong) {
      await t.step(words.join(" "), async () => {
        await workspace.says([
          "export",
          "gate-nginx",
          ...words,
        ], { code: 2, err: message });
      });
    }
  });
});
