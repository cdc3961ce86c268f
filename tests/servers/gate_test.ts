/// <reference lib="dom" />
/** The gate with real proxies, configured by `sig export`. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
} from "@std/assert";
import {
  startWebServer,
  type WebServerName,
} from "../../cli/testdata/web_server.ts";
import { serveLoopback } from "../kit/loopback.ts";
import { exchangeRaw, head, RawClient } from "../kit/raw_client.ts";
import { inWorkspace, type Workspace } from "../../cli/testdata/workspace.ts";
import {
  Browser,
  TestProvider,
} from "../../web/openid/testdata/test_provider.ts";
import type { Person } from "../../web/testdata/independent_client.ts";
import { browserTest } from "../../web/ui_test/testdata/browser.ts";
import { createKey } from "../../web/ui_test/testdata/person.ts";
import { WAIT_LIMIT_MS } from "../kit/wait.ts";
import { freePort, hasProgram, lacks } from "../kit/process.ts";

// promise: The login's cookies and forged identity headers reach no application
//   behind a proxy.

/** A browser that keeps cookies by host name. */
class Visitor {
  readonly #provider: TestProvider;
  readonly #jars = new Map<string, Browser>();

  constructor(provider: TestProvider) {
    this.#provider = provider;
  }

  jar(url: string): Browser {
    const { hostname } = new URL(url);
    const jar = this.#jars.get(hostname) ?? new Browser();
    this.#jars.set(hostname, jar);
    return jar;
  }

  async open(url: string, init: RequestInit = {}): Promise<Page> {
    const steps: string[] = [];
    for (let next = url;;) {
      steps.push(next);
      if (steps.length > 12) throw new Error(steps.join("\n"));
      const response = await this.jar(next).send(next, init);
      const text = await response.text();
      const location = response.headers.get("location");
      if (location === null) {
        return { url: next, status: response.status, text };
      }
      next = new URL(location, next).href;
    }
  }

  async sign(person: Person, { url }: Page): Promise<Page> {
    const { origin, now } = this.#provider;
    const id = new URL(url).hash.split("/").pop() ?? "";
    const browser = this.jar(origin);
    const { challenge } = await browser.interaction(origin, id);
    const attestation = person.attest(challenge, now().getTime());
    const { body } = await browser.answer(origin, id, { attestation });
    return await this.open(body.redirect_to);
  }
}

interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

const FORGED: HeadersInit = [
  ["remote-user", "did:web:ceo.example"],
  ["Remote-Groups", "admin"],
  ["REMOTE-NAME", "The CEO"],
  ["remote_user", "did:web:ceo.example"],
  ["Remote_Groups", "admin"],
  ["x-forwarded-host", "127.0.0.1"],
  ["x-forwarded-uri", "/public"],
  ["x-forwarded-method", "POST"],
  ["forwarded", "host=127.0.0.1"],
  ["x-original-url", "/public"],
];

/** Starts an application behind a proxy, and its login server. */
async function startGated(
  name: WebServerName,
  workspace: Workspace,
  hostname = "localhost",
) {
  await using starting = new AsyncDisposableStack();
  const port = freePort();
  const app = `${hostname}:${port}`;
  const provider = starting.use(
    await TestProvider.start({
      settings: { gateHosts: [app], gateMaxAgeMs: 0 },
    }),
  );
  const upstream = starting.use(serveLoopback((request) => {
    const { headers, url } = request;
    if (headers.has("upgrade")) {
      const { response, socket } = Deno.upgradeWebSocket(request);
      const user = headers.get("remote-user");
      socket.onmessage = ({ data }) => socket.send(`${user} says ${data}`);
      return response;
    }
    const { pathname, search } = new URL(url);
    const path = pathname + search;
    return Response.json({ path, headers: Object.fromEntries(headers) });
  }));
  const { code, stdout, stderr } = await workspace.sig([
    ...["export", `gate-${name}`, "--login", provider.origin, "--app", app],
    ...["--upstream", upstream.origin],
  ]);
  assertEquals(code, 0, stderr);
  starting.use(await startWebServer(name, workspace.dir, stdout, port));
  const running = starting.move();
  return {
    ...{ app, provider },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

for (const name of ["nginx", "caddy"] as const satisfies WebServerName[]) {
  Deno.test({
    name: `${name} admits a logged-in person until a revocation`,
    ignore: lacks(name),
    fn: () =>
      inWorkspace(async (workspace) => {
        await using gated = await startGated(name, workspace);
        const { app, provider } = gated;
        const { person, relationship } = await provider.employ();
        const visitor = new Visitor(provider);
        const start =
          `http://${app}/reports/a%20b?x=1&rd=http://evil.example/&y=%26`;

        const asked = await visitor.open(start, { headers: FORGED });
        assertMatch(asked.url, /\/#\/sign-in\/[A-Za-z0-9_.-]+$/);
        const shown = await visitor.sign(person, asked);
        assertEquals([shown.status, shown.url], [200, start]);
        const seen = JSON.parse(shown.text);
        assertEquals(
          seen.path,
          new URL(start).pathname + new URL(start).search,
        );
        assertEquals(seen.headers["remote-user"], person.did);

        const again = await visitor.open(start, { headers: FORGED });
        const { headers } = JSON.parse(again.text);
        assertEquals(headers["remote-user"], person.did);
        assertEquals(headers["remote-groups"], "employee,role:deploy");
        assertMatch(headers["remote-name"], /^u-[0-9a-f]{16}$/);
        assertEquals(headers["remote_user"], undefined);
        assertEquals(headers["remote_groups"], undefined);

        // The headers are kept, even if the browser lists them in Connection.
        const named = await exchangeRaw(
          Number(new URL(start).port),
          head("GET / HTTP/1.1", [
            `Cookie: ${visitor.jar(start).cookie}`,
            "Connection: close, Remote-User, Remote-Groups, Remote-Name",
          ], `Host: ${app}`),
        );
        assertEquals(named.status, 200);
        const { headers: kept } = JSON.parse(named.body);
        for (const name of ["user", "groups", "name"]) {
          assertEquals(kept[`remote-${name}`], headers[`remote-${name}`]);
        }

        // Without the cookie, no request reaches the application.
        for (
          const path of [
            "/",
            "/_sig/forward-auth",
            "/_sig/../",
            "//",
            "/%5fsig/",
          ]
        ) {
          for (const method of ["GET", "POST"]) {
            const response = await fetch(`http://${app}${path}`, {
              ...{ method, headers: FORGED, redirect: "manual" },
            });
            const text = await response.text();
            assert(!text.includes("ceo"), `${method} ${path} reached it`);
            assert(response.status !== 200, `${method} ${path}: ${text}`);
          }
        }
        await provider.demo.revoke(relationship);
        const after = await visitor.open(start);
        assertMatch(after.url, /\/#\/sign-in\//);
      }),
  });

  Deno.test({
    name: `${name} passes the WebSockets of a logged-in person only`,
    ignore: lacks(name),
    fn: () =>
      inWorkspace(async (workspace) => {
        await using gated = await startGated(name, workspace);
        const { app, provider } = gated;
        const { person } = await provider.employ();
        const visitor = new Visitor(provider);
        await visitor.sign(person, await visitor.open(`http://${app}/`));
        const { cookie } = visitor.jar(`http://${app}/`);
        const connect = async (
          headers: { readonly [name: string]: string },
        ) => {
          // An option of Deno; the types here are those of browsers.
          const options = { headers } as unknown as string[];
          const socket = new WebSocket(`ws://${app}/live`, options);
          const ended = Promise.withResolvers<string>();
          const closed = Promise.withResolvers<void>();
          socket.onopen = () => socket.send("hello");
          socket.onmessage = ({ data }) => ended.resolve(data);
          socket.onerror = () => ended.resolve("refused");
          socket.onclose = () => closed.resolve();
          const said = await ended.promise;
          socket.close();
          await closed.promise;
          return said;
        };
        assertEquals(await connect({ cookie }), `${person.did} says hello`);
        assertEquals(await connect({}), "refused");
      }),
  });

  Deno.test({
    name:
      `${name} hides the login's cookies from an application on the same host, and passes other cookies`,
    ignore: lacks(name),
    fn: () =>
      inWorkspace(async (workspace) => {
        await using gated = await startGated(name, workspace, "127.0.0.1");
        const { app, provider } = gated;
        const { person } = await provider.employ();
        const visitor = new Visitor(provider);
        const page = await visitor.open(`http://${app}/`);
        assertEquals((await visitor.sign(person, page)).status, 200);
        const { cookie } = visitor.jar(provider.origin);
        assertMatch(cookie, /^(?=.*sig-session-)(?=.*sig-browser-)/);

        for (
          const [sent, passed] of [
            [cookie, undefined],
            [`theme=dark; ${cookie}`, "theme=dark"],
            [`${cookie}; theme=dark; n=1`, "theme=dark; n=1"],
            [
              `a=1; __Host-sig-gate=x; b="2";${cookie};\tsig-=y; c=sig-x; sigma=3; x-sig-y=4`,
              'a=1; b="2"; c=sig-x; sigma=3; x-sig-y=4',
            ],
          ] as const
        ) {
          const response = await fetch(`http://${app}/`, {
            headers: { cookie: sent },
          });
          assertEquals(response.status, 200, sent);
          const { headers } = await response.json();
          assertEquals(headers["remote-user"], person.did);
          assertEquals(headers.cookie || undefined, passed, sent);
        }
        const many = Array.from(
          { length: 12 },
          (_, i) => `sig-${i}=x; a${i}=y`,
        );
        const response = await fetch(`http://${app}/`, {
          headers: { cookie: `${cookie}; ${many.join("; ")}` },
        });
        const { headers } = await response.json();
        assert(!/sig-/.test(headers.cookie ?? ""), headers.cookie);
      }),
  });

  browserTest(
    `a person approves in a browser, returns to the site at ${name}, and has to sign in again after a revocation`,
    (browser) =>
      inWorkspace(async (workspace) => {
        await using gated = await startGated(name, workspace);
        const { app, provider } = gated;
        const context = await browser.newContext({
          permissions: ["clipboard-read", "clipboard-write"],
        });
        context.setDefaultTimeout(WAIT_LIMIT_MS);
        try {
          const page = await context.newPage();
          await page.goto(`${provider.origin}/`);
          await page.waitForSelector("html[data-ready]");
          const did = await createKey(page);
          const { relationship_id } = await provider.demo.enrol(did, "Ann");

          const start = `http://${app}/reports/a%20b?x=1`;
          await page.goto(start);
          assertEquals(
            await page.locator("#request h2").innerText(),
            `${app} asks you to sign in`,
          );
          await page.click("#approve");
          await page.waitForURL(start);
          const seen = JSON.parse(await page.locator("body").innerText());
          assertEquals(
            [seen.path, seen.headers["remote-user"]],
            ["/reports/a%20b?x=1", did],
          );
          await page.reload();
          assertEquals(page.url(), start);

          await provider.demo.revoke(relationship_id);
          await page.reload();
          await page.locator("#approve:enabled").click();
          await page.getByText(/ended your employment .*\(event #2\)/)
            .waitFor();
        } finally {
          await context.close();
        }
      }),
    hasProgram(name) ? undefined : `there is no ${name} here`,
  );
}

for (const name of ["nginx", "caddy"] as const satisfies WebServerName[]) {
  Deno.test({
    name: `${name} closes idle connections before and after a request`,
    ignore: lacks(name),
    fn: () =>
      inWorkspace(async (workspace) => {
        await using login = serveLoopback(() => new Response());
        const { stdout } = await workspace.sig([
          ...["export", `gate-${name}`, "--login", login.origin],
          ...["--upstream", login.origin, "--app", "localhost:9000"],
        ]);
        const port = freePort();
        const shorter = stdout.replaceAll(":9000", `:${port}`)
          .replaceAll(/\b1[05]s|\b30s/g, "1s");
        await using _server = await startWebServer(
          ...[name, workspace.dir, shorter, port] as const,
        );
        using silent = await RawClient.connect(port);
        // There is no response: the connection was closed.
        assertNotEquals((await soon(silent.receive())).status, 200);
        using idle = await RawClient.connect(port);
        await idle.send(head("HEAD / HTTP/1.1", [], `Host: localhost:${port}`));
        assertEquals((await idle.receive("HEAD")).status, 200);
        assertEquals((await soon(idle.receive())).status, 0);
      }),
  });
}

Deno.test({
  name: "nginx accepts 100 concurrent requests per address",
  ignore: lacks("nginx"),
  fn: () =>
    inWorkspace(async (workspace) => {
      const answered = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      let waiting = 0;
      await using login = serveLoopback(async () => {
        if (++waiting === 100) asked.resolve();
        await answered.promise;
        return new Response(null, { status: 403 });
      });
      const port = freePort();
      const { stdout } = await workspace.sig([
        ...["export", "gate-nginx", "--login", login.origin],
        ...["--app", `localhost:${port}`],
      ]);
      await using _server = await startWebServer(
        ...["nginx", workspace.dir, stdout, port] as const,
      );
      const ask = async () => {
        const response = await fetch(`http://localhost:${port}/`);
        await response.body?.cancel();
        return response.status;
      };
      const first = Array.from({ length: 100 }, ask);
      await asked.promise;
      assertEquals(await ask(), 429);
      answered.resolve();
      assertEquals(new Set(await Promise.all(first)), new Set([403]));
      assertEquals(await ask(), 403);
    }),
});

/** Fails if the work takes as long as the server's own idle timeout. */
async function soon<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const error = new Error("the connection was kept for 30 s");
  // real time: distinguishes two timeouts of the server.
  const timer = setTimeout(() => late.reject(error), 30_000);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

Deno.test({
  name:
    "nginx responds with 500 while the login server of two applications is unreachable",
  ignore: lacks("nginx"),
  fn: () =>
    inWorkspace(async (workspace) => {
      const ports = [freePort(), freePort()];
      const login = `http://127.0.0.1:${freePort()}`;
      const sites = await Promise.all(ports.map((port) =>
        workspace.sig([
          ...["export", "gate-nginx", "--login", login],
          ...["--app", `localhost:${port}`],
        ])
      ));
      await using server = await startWebServer(
        "nginx",
        workspace.dir,
        sites.map(({ stdout }) => stdout).join("\n"),
        ports[1]!,
      );
      assertEquals(server.complaints, "");
      for (const port of ports) {
        const response = await fetch(`http://localhost:${port}/`);
        await response.body?.cancel();
        assertEquals(response.status, 500);
      }
    }),
});
