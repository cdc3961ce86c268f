/** Findings of `sig doctor` about a server, with a fixture for each. */

import { verifyIssuer } from "@sig/consumer";
import { SigError } from "@sig/core";
import { assertEquals, assertRejects } from "@std/assert";
import {
  makeCertificate,
  type TestCertificate,
} from "../../tests/kit/certificates.ts";
import { say, startRawServer } from "../../tests/kit/raw_server.ts";
import { serveLoopback } from "../../tests/kit/loopback.ts";
import { judge } from "./finding.ts";
import { REFUSED_FINDINGS } from "./served.ts";
import { createIssuerSite } from "../site/issuer_site.ts";
import { doctor, findServed, overTls } from "../testdata/doctor.ts";
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
import { freePort, lacks } from "../../tests/kit/process.ts";

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
  const ignore = lacks("openssl");
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
  async () => {
    for (
      const [name, isTrusted, what] of [
        ["DNS:localhost", false, "the server's certificate is not trusted"],
        ["DNS:a.example", true, "the server's certificate is for another name"],
      ] as const
    ) {
      const tls = await makeCertificate(name);
      await serving(async (_, { host }) => {
        const location = overTls(host, ...isTrusted ? [tls.authority] : []);
        const error = await assertRejects(
          () => verifyIssuer(location, { now: new Date() }),
          SigError,
        );
        assertEquals(
          judge(REFUSED_FINDINGS, error).map(({ code, what }) => [code, what]),
          [["certificate_refused", what]],
        );
      }, { tls });
    }
  },
);

tlsTest(
  "doctor reports a certificate that expires within three weeks",
  async () => {
    for (
      const [days, found] of [
        [20, ["certificate_expires"]],
        [23, []],
      ] as const
    ) {
      const tls = await makeCertificate("DNS:localhost", { days });
      await serving(async (_, { host }) => {
        assertEquals(await findServed(host, tls.authority), found);
      }, { tls });
    }
  },
);
