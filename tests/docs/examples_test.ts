/** Runs the examples as processes on loopback, including their failures. */

import { exchangeRaw, head } from "../kit/raw_client.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  generateSigningKey,
  importSigningKey,
  jwkToDidKey,
  signAttestation,
} from "@sig/jose";
import { createApp } from "@sig/api";
import { type LoopbackServer, serveLoopback } from "../kit/loopback.ts";
import { startLoopbackIssuer } from "../ship/testdata/loopback_issuer.ts";
import { serveIssuer } from "./issuer_site.ts";
import { createNewcomer } from "./newcomer.ts";
import {
  hasProgram,
  run,
  runWell,
  startServer,
  tempFolder,
} from "../kit/process.ts";

const ROOT = new URL("../../", import.meta.url);
const CONFIG = new URL("deno.json", ROOT).pathname;

function path(example: string): string {
  return new URL(`examples/${example}`, ROOT).pathname;
}

/**
 * Returns the arguments that run an example with network and these variables.
 */
function words(example: string, variables: string): readonly string[] {
  const permissions = [
    "--no-prompt",
    "--allow-net",
    `--allow-env=${variables}`,
  ];
  return ["run", ...permissions, `--config=${CONFIG}`, path(example)];
}

/** Starts the server of an example on any port. */
const serve = (
  args: readonly string[],
  env: { readonly [name: string]: string },
) => startServer(Deno.execPath(), args, { env: { ...env, NO_COLOR: "1" } });

async function withIssuer(work: (issuer: LoopbackServer) => Promise<void>) {
  await using dir = await tempFolder();
  await using issuer = await serveIssuer(dir.path);
  await work(issuer);
}

Deno.test("hono-login greets an employee until the relationship ends", async () => {
  await using loopback = await startLoopbackIssuer();
  const { enrol, revoke } = loopback.issuer;
  const variables = "PORT,ORIGIN,ISSUER,RECHECK_MS,ALLOW_INSECURE";
  await using app = await serve(words("hono-login/main.ts", variables), {
    ...{ PORT: "0", ORIGIN: "http://127.0.0.1:8000", ISSUER: loopback.host },
    ...{ RECHECK_MS: "0", ALLOW_INSECURE: "1" },
  });
  const key = await importSigningKey(await generateSigningKey());
  const subject = jwkToDidKey(key.publicJwk);
  const { relationship_id } = await enrol(subject);
  const post = (at: string, cookie: string, body = "{}") =>
    fetch(app.origin + at, { method: "POST", headers: { cookie }, body });
  const cookieOf = (response: Response, name: string) =>
    response.headers.getSetCookie().find((each) => each.startsWith(`${name}=`))
      ?.split(";")[0] ?? "";
  const begun = await post("/sig/challenge", "");
  const challenge = await begun.json();
  const now = () => new Date();
  const attestation = await signAttestation({ challenge, key, now });
  const done = await post(
    "/sig/session",
    cookieOf(begun, "sig-challenge-8000"),
    JSON.stringify({ attestation }),
  );
  assertEquals([done.status, (await done.json()).subject], [200, subject]);
  const cookie = cookieOf(done, "sig-session-8000");
  const home = async () => {
    const response = await fetch(app.origin, {
      headers: { cookie },
      redirect: "manual",
    });
    return [response.status, await response.text()];
  };
  assertEquals(await home(), [200, `Hello, ${subject}`]);
  await revoke(relationship_id);
  assertEquals((await home())[0], 302);
});

Deno.test("authzen-gateway passes an allow, answers 403 to a deny and 503 without an answer", () =>
  withIssuer(async ({ did }) => {
    const api = createApp({ issuers: [did], allowPrivate: true, maxAgeMs: 0 });
    const decisionPoint = serveLoopback((request) => api.fetch(request));
    const seen: string[] = [];
    await using upstream = serveLoopback(async (request) => {
      const { pathname, search } = new URL(request.url);
      seen.push(`${request.method} ${pathname}${search}`);
      return new Response(`upstream ${await request.text()}`);
    });
    const variables = "PORT,UPSTREAM,DECISION_POINT,ISSUER";
    const entry = "authzen-gateway/main.ts";
    await using gateway = await serve(words(entry, variables), {
      PORT: "0",
      UPSTREAM: `${upstream.origin}/`,
      DECISION_POINT: `${decisionPoint.origin}/`,
      ISSUER: did,
    });
    const ask = async (
      subject: string | undefined,
      init: RequestInit = {},
    ) => {
      const headers = subject === undefined ? [] : [["x-subject", subject]];
      const response = await fetch(`${gateway.origin}//other.example/a?b=1`, {
        ...init,
        headers: headers as [string, string][],
      });
      return [response.status, await response.text()];
    };
    const alice = "did:web:alice.example";
    assertEquals(await ask(undefined), [401, "who are you?\n"]);
    assertEquals(await ask(alice), [200, "upstream "]);
    const post = { method: "POST", body: "hello" };
    assertEquals(await ask(alice, post), [200, "upstream hello"]);
    assertEquals(await ask("did:web:bob.example"), [403, "denied\n"]);
    const port = Number(new URL(gateway.origin).port);
    const shifting = ["X-Subject: did:web:alice.example"];
    assertEquals(
      (await exchangeRaw(
        port,
        head("GET /a HTTP/1.1", shifting, "Host: a/admin#"),
      )).status,
      400,
    );
    await decisionPoint[Symbol.asyncDispose]();
    assertEquals(await ask(alice), [503, "can't decide now\n"]);
    assertEquals(seen, [
      "GET //other.example/a?b=1",
      "POST //other.example/a?b=1",
    ]);
  }));

Deno.test("ci-gate exits with the command's code, 77 on deny, 75 without an answer", () =>
  withIssuer(async ({ host }) => {
    await using newcomer = await createNewcomer();
    const gate = (issuer: string, subject: string) =>
      run(path("ci-gate/gate.sh"), [issuer, subject, "sh", "-c", "exit 7"], {
        env: {
          ...newcomer.env,
          NO_COLOR: "1",
          ALLOW_INSECURE: "1",
          GATE_PAUSE_SECONDS: "0",
        },
      });
    const allowed = await gate(host, "did:web:alice.example");
    assertEquals(allowed.code, 7, allowed.stderr);
    const denied = await gate(host, "did:web:bob.example");
    assertEquals([denied.code, denied.stderr], [
      77,
      "warning: origin not proven: documents came by http, without TLS\ngate: denied\n",
    ]);
    const none = await gate("./nowhere", "did:web:alice.example");
    assertEquals(none.code, 75);
    assertEquals(none.stderr.split("source_not_found").length - 1, 3);
  }));

Deno.test("nightly publishes a run; a guard stops it with 78, an invalid export with 2, without writing", async () => {
  await using newcomer = await createNewcomer();
  const at = (name: string) => `${newcomer.home}/${name}`;
  const env = {
    ...newcomer.env,
    CONFIG,
    SIG_KEYS_DIR: at("keys"),
    PUBLISH: "echo published",
  };
  const init = ["init", "staff.example", "--dir", at("staff")];
  await runWell(at(".local/bin/sig"), init, { env });
  const numbers = Array.from({ length: 12 }, (_, i) => `${i + 1}`);
  const key = (n: string) => `did:web:p${n}.example,${n}\n`;
  await Deno.writeTextFile(
    at("staff/.sig/people.csv"),
    `subject,person\n${numbers.map(key).join("")}`,
  );
  const sync = async (columns: string, rows: readonly string[]) => {
    const text = rows.map((n) => `${n},P ${n},Sales clerk,2020-01-01,\n`);
    await Deno.writeTextFile(at("export.csv"), `${columns}\n${text.join("")}`);
    const words = [at("staff"), at("export.csv")];
    const { code, stdout, stderr } = await run(
      path("nightly/sync.sh"),
      words,
      { env },
    );
    const feed = at("staff/.well-known/sig/events.jsonl");
    const lines = (await Deno.readTextFile(feed)).split("\n").length - 1;
    const last = stdout.trimEnd().split("\n").at(-1)!;
    return { shown: [code, lines, last], mail: stdout, stderr };
  };
  const columns = "number,name,position,entry,exit";
  const published = `published ${at("staff")}`;
  const first = await sync(columns, numbers);
  assertEquals([first.shown, first.stderr], [[0, 12, published], ""]);
  const again = await sync(columns, numbers);
  assertEquals([again.shown, again.mail], [[0, 12, ""], ""]);
  const cut = await sync(columns, numbers.slice(0, 3));
  assertEquals(cut.shown.slice(0, 2), [78, 12]);
  for (
    const part of [
      "9 of 12 people would lose access",
      "--reason-code employment_ended --yes --confirm-losses 9\n",
      `echo published ${at("staff")}`,
    ]
  ) assertStringIncludes(cut.mail, part);
  const other = await sync("id,name,position,entry,exit", numbers);
  assertEquals(other.shown.slice(0, 2), [2, 12]);
  assertStringIncludes(other.mail, "export.csv: row 1 must have number,");
  const missing = await sync(`${columns}\n1,P 1,Sales clerk`, numbers);
  assertEquals(missing.shown.slice(0, 2), [2, 12]);
  assertStringIncludes(missing.mail, "export.csv: row 2 must have number,");
  const one = await sync(columns, numbers.slice(1));
  assertEquals(one.shown, [0, 13, published]);
  // What the mail says can be pasted.
  const stopped = await sync(columns, numbers.slice(1, 3));
  const [, confirmed = ""] = /^ {3}(sig apply .*)$/m.exec(stopped.mail) ?? [];
  const done = await runWell("sh", ["-c", confirmed], { env });
  assertEquals(
    done,
    "Ends 9 relationships with the reason code employment_ended.\nAppended 9 events (seq=14 to 22)\n",
  );
});

Deno.test({
  name:
    "the units and the cron line of nightly start its script with two arguments",
  async fn() {
    const [service = "", crontab = ""] = await Promise.all(
      ["sig-nightly.service", "crontab"].map((name) =>
        Deno.readTextFile(path(`nightly/${name}`))
      ),
    );
    const command =
      /\/opt\/sig\/examples\/(nightly\/sync\.sh) \/srv\/acme\.example \/srv\/hr\/export\.csv$/m;
    for (const text of [service, crontab]) {
      const [, script = ""] = command.exec(text) ?? [];
      assert((await Deno.stat(path(script))).mode! & 0o100);
    }
    if (!hasProgram("systemd-analyze")) return;
    await using folder = await tempFolder();
    // Only the paths of the operator's machine are missing here.
    for (
      const name of [
        "sig-nightly.service",
        "sig-nightly-mail.service",
        "sig-nightly.timer",
      ]
    ) {
      const text = await Deno.readTextFile(path(`nightly/${name}`));
      await Deno.writeTextFile(
        `${folder.path}/${name}`,
        text.replaceAll("/opt/sig/examples/", path("")),
      );
    }
    const ran = await run("systemd-analyze", [
      ...["verify", "--man=no"],
      ...["service", "timer"].map((end) => `${folder.path}/sig-nightly.${end}`),
    ], {});
    assertEquals([ran.code, ran.stderr], [0, ""]);
  },
});

Deno.test("deploy runs both servers in one process, configured by variables", async () => {
  await using site = await serve([
    ...["serve", "--no-prompt", "--host=127.0.0.1", "--port=0"],
    ...["--allow-net", "--allow-env", `--config=${CONFIG}`],
    path("deploy/main.ts"),
  ], {
    SIG_AUDIENCES: "https://login.acme.example",
    SIG_ISSUERS: "acme.example",
    SIG_TOKEN: "a-token-for-tests",
  });
  const post = (at: string) =>
    fetch(site.origin + at, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
  const challenge = await (await post("/v1/auth/challenge/create")).json();
  assertEquals(challenge.audience, "https://login.acme.example");
  const refused = await post("/v1/check");
  assertEquals([refused.status, (await refused.json()).code], [
    401,
    "unauthorized",
  ]);
  for (const at of ["/", "/healthz", "/openapi.json"]) {
    const response = await fetch(site.origin + at);
    assertEquals([at, response.status], [at, 200]);
    await response.body?.cancel();
  }
  const { imports } = JSON.parse(
    await Deno.readTextFile(path("deploy/deno.json")),
  );
  assertEquals(
    Object.keys(imports).map((name) =>
      imports[name].replace(/^jsr:|@\^[\d.]+/g, "") === name
    ),
    [true, true],
  );
});

Deno.test("audit distinguishes what was true from what was known", () =>
  withIssuer(async ({ host }) => {
    const audit = (...args: string[]) =>
      run(
        Deno.execPath(),
        [...words("audit/audit.ts", "ALLOW_INSECURE"), ...args],
        { env: { ALLOW_INSECURE: "1", NO_COLOR: "1" } },
      );
    const bob = ["did:web:bob.example", "deploy"];
    const { code, stderr, stdout } = await audit(
      host,
      ...bob,
      "2026-02-03T00:00:00Z",
    );
    assertEquals(code, 0, stderr);
    assertStringIncludes(
      stdout,
      "true at 2026-02-03T00:00:00Z: deny (revoked)",
    );
    assertStringIncludes(stdout, "known by 2026-02-03T00:00:00Z: allow");
    const none = await audit("127.0.0.1:1", ...bob, "2026-02-03T00:00:00Z");
    assertEquals([none.code, none.stdout], [2, ""]);
    assertStringIncludes(none.stderr, "no answer: address_not_allowed");
    const usage = await audit(host);
    assert(usage.stderr.startsWith("Usage:"), usage.stderr);
    assertEquals(usage.code, 2);
  }));
