/** Findings of `sig doctor` about a server, with a fixture for each. */

import { openSource, parseSource, verifyIssuer } from "@sig/consumer";
import { loadIssuer, probeUrl } from "@sig/consumer/internal";
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  hasOpenssl,
  makeCertificate,
  type TestCertificate,
} from "../../tests/kit/certificates.ts";
import { say, startRawServer } from "../../tests/kit/raw_server.ts";
import { serveLoopback } from "../../tests/kit/loopback.ts";
import { judge } from "../doctor/finding.ts";
import { askServer, Requests } from "../doctor/ask_server.ts";
import { SERVED_FINDINGS } from "../doctor/served.ts";
import { createIssuerSite } from "../site/issuer_site.ts";
import { doctor, shortened } from "../testdata/doctor.ts";
import { sig as process } from "../testdata/process.ts";

import {
  cacheControl,
  FATAL,
  type Fault,
  FAULTS,
} from "../testdata/served_faults.ts";
import {
  inWorkspace,
  type Workspace,
  workspaceTest as test,
} from "../testdata/workspace.ts";
import { freePort } from "../../tests/kit/process.ts";

/** The real clock, because servers send the current date. */
const NOW = { io: { now: () => new Date() } };

/** Serves an issuer on loopback, initially without a fault. */
async function serving(
  work: (
    workspace: Workspace,
    server: { readonly host: string; fault: Fault },
  ) => Promise<void>,
  { tls }: { readonly tls?: TestCertificate } = {},
): Promise<void> {
  await inWorkspace(async (workspace) => {
    const good = createIssuerSite(workspace.path("acme"));
    const faultless: Fault = (request) => good(request);
    const server = { host: "", fault: faultless };
    await using http = serveLoopback(
      (request) => server.fault(request, good),
      tls,
    );
    server.host = tls === undefined
      ? http.host
      : http.host.replace("127.0.0.1", "localhost");
    for (
      const words of [
        `init ${server.host} --dir $D/acme --allow-insecure --no-proofs`,
        "upsert --dir $D/acme --type other --subject did:web:a.example",
      ]
    ) {
      await workspace.says(words.split(" "), NOW);
    }
    if (tls !== undefined) {
      for (const file of ["sig.json", "did.json"]) {
        const path = workspace.path(`acme/.well-known/${file}`);
        const text = await Deno.readTextFile(path);
        await Deno.writeTextFile(path, text.replaceAll("http://", "https://"));
      }
    }
    await work(workspace, server);
  });
}

Deno.test("doctor reports each fault of a server, and no other finding besides no_tls", async (t) => {
  await serving(async (workspace, server) => {
    const words = [server.host, "--allow-insecure"];
    const plain = ["no_tls", "error"];
    const good = server.fault;
    assertEquals(await doctor(workspace, words, NOW), {
      code: 1,
      found: [plain],
    });
    for (const [at, [code, severity, fault]] of FAULTS.entries()) {
      await t.step(`${code} ${at}`, async () => {
        server.fault = fault;
        const { found } = await doctor(workspace, words, NOW);
        assertEquals(
          found.filter(([each]) => each !== "no_tls"),
          [[code, severity]],
        );
      });
    }
    for (const [code, fault] of FATAL) {
      await t.step(code, async () => {
        server.fault = fault;
        assertEquals(await doctor(workspace, words, NOW), {
          code: 1,
          found: [[code, "error"]],
        });
      });
    }
    await t.step("short cache lifetimes are not reported", async () => {
      for (
        const value of [
          ...["no-store", "max-age=300", "s-maxage=0, max-age=9999"],
          ...["no-cache, max-age=9999"],
        ]
      ) {
        server.fault = cacheControl(value);
        assertEquals((await doctor(workspace, words, NOW)).found, [plain]);
      }
    });
    server.fault = good;
  });
});

test("doctor reports a document without a length or chunked encoding", async (workspace) => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{}";
  await using server = startRawServer(say(head));
  const words = [`127.0.0.1:${server.port}`, "--allow-insecure"];
  assertEquals(await doctor(workspace, words, NOW), {
    code: 1,
    found: [["length_unsaid", "error"]],
  });
});

test("doctor exits 2 if the host does not answer", async (workspace) => {
  const port = freePort();
  await workspace.says(`doctor 127.0.0.1:${port} --allow-insecure`, {
    code: 2,
    err: ["fetch_failed", "the connection was refused"],
  });
});

/** Without openssl the test is ignored, but in CI it fails. */
function tlsTest(name: string, fn: (t: Deno.TestContext) => Promise<void>) {
  const ignore = !hasOpenssl() && Deno.env.get("SIG_CI") !== "1";
  Deno.test({ name, ignore, fn });
}

Deno.test("doctor stops at the common deadline of its requests and reports server_slow", () =>
  serving(async (workspace, server) => {
    const held = Promise.withResolvers<Response>();
    const deadline = new AbortController();
    const asked: string[] = [];
    let allowedMs: number | undefined;
    server.fault = (request, good) => {
      if (allowedMs === undefined) return good(request);
      asked.push(request.url);
      deadline.abort(new DOMException("too late", "TimeoutError"));
      return held.promise;
    };
    const { code, found } = await doctor(
      workspace,
      [server.host, "--allow-insecure"],
      {
        io: {
          ...NOW.io,
          deadline(ms) {
            allowedMs = ms;
            return deadline.signal;
          },
        },
      },
    );
    held.resolve(new Response());
    assertEquals([allowedMs, asked.length], [30_000, 1]);
    assertEquals([code, found], [1, [
      ["server_slow", "warning"],
      ["no_tls", "error"],
    ]]);
  }));

tlsTest(
  "doctor reports an untrusted certificate, and a certificate for another name",
  async (t) => {
    const cases = [
      ["DNS:localhost", false, "the server's certificate is not trusted"],
      ["DNS:a.example", true, "the server's certificate is for another name"],
    ] as const;
    for (const [name, isTrusted, what] of cases) {
      await t.step(what, async () => {
        const tls = await makeCertificate(name);
        await serving(async ({ dir: cwd }, { host }) => {
          const file = `${cwd}/authority.pem`;
          await Deno.writeTextFile(file, tls.authority);
          const { code, stdout, stderr } = await process([
            ...["doctor", `https://${host}/.well-known/sig.json`],
            ...["--allow-insecure", "--format", "json"],
          ], {
            cwd,
            permissions: [
              "--allow-net",
              ...isTrusted ? [`--cert=${file}`] : [],
            ],
          });
          assertEquals([code, stderr], [1, ""]);
          assertEquals(shortened(stdout), [["certificate_refused", "error"]]);
          assertStringIncludes(stdout, JSON.stringify(what));
        }, { tls });
      });
    }
  },
);

/**
 * Runs `work` with a function that returns the findings over TLS, with a
 * trusted authority.
 */
async function overTls(
  days: number,
  work: (
    find: (httpOrigin?: string) => Promise<readonly (readonly string[])[]>,
  ) => Promise<void>,
): Promise<void> {
  const tls = await makeCertificate("DNS:localhost", { days });
  await serving(async (_, { host }) => {
    const policy = { allowPrivate: true, caCertificates: [tls.authority] };
    const source = parseSource(`https://${host}/.well-known/sig.json`, policy);
    const location = openSource(source, policy);
    const now = new Date();
    const place = {
      location,
      metadata: (await loadIssuer(location)).metadata,
      feedBytes: (await verifyIssuer(location, { now })).feed.bytes,
      now,
      probe: (url, options) => probeUrl(url, { ...options, ...policy }),
    } satisfies Parameters<typeof askServer>[0];
    await work(async (httpOrigin) => {
      const answers = await askServer(
        { ...place, ...(httpOrigin === undefined ? {} : { httpOrigin }) },
        new Requests(new AbortController().signal),
      );
      const findings = judge(SERVED_FINDINGS, answers);
      return shortened(JSON.stringify({ findings }));
    });
  }, { tls });
}

tlsTest(
  "doctor reports a certificate that expires within three weeks",
  async () => {
    for (
      const [days, found] of [
        [20, [["certificate_expires", "warning"]]],
        [23, []],
      ] as const
    ) await overTls(days, async (find) => assertEquals(await find(), found));
  },
);

tlsTest(
  "doctor reports plain http that serves documents or redirects to another host",
  async () => {
    const cases: readonly (readonly [string, () => Response, boolean])[] = [
      ["a document", () => Response.json({}), true],
      ["elsewhere", () => Response.redirect("http://www.acme.example/"), true],
      ["https", () => Response.redirect("https://acme.example/"), false],
      ["nothing", () => new Response(null, { status: 404 }), false],
    ];
    await overTls(60, async (find) => {
      for (const [name, answer, isFound] of cases) {
        await using http = serveLoopback(answer);
        const found = isFound ? [["http_not_redirected", "warning"]] : [];
        assertEquals(await find(`http://${http.host}`), found, name);
      }
      assertEquals(await find(`http://127.0.0.1:${freePort()}`), []);
    });
  },
);
