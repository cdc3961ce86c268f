import { assertEquals } from "@std/assert";
import type { GuardedFetchOptions } from "./fetch_options.ts";
import {
  makeCertificate,
  type TestCertificate,
} from "../../tests/kit/certificates.ts";
import { serveLoopback } from "../../tests/kit/loopback.ts";
import { lacks } from "../../tests/kit/process.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { fetchText } from "../testdata/fetching.ts";
import {
  send,
  startRawServer,
  untilClosed,
} from "../../tests/kit/raw_server.ts";

/** Skipped without openssl, except in CI, where it fails. */
function tlsTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: lacks("openssl"), fn });
}

let made: Promise<TestCertificate> | undefined;
const certificate = () =>
  made ??= makeCertificate("DNS:acme.example,IP:127.0.0.1");

function startTlsServer(certificate: TestCertificate) {
  const requests: string[] = [];
  const server = serveLoopback((request) => {
    requests.push(request.url);
    return Response.json({ a: 1 });
  }, certificate);
  return { ...server, requests };
}

const resolve = () => Promise.resolve(["127.0.0.1"]);

async function trust(): Promise<Partial<GuardedFetchOptions>> {
  const { authority } = await certificate();
  return { resolve, caCertificates: [authority] };
}

tlsTest("a pinned connection checks the TLS name of the URL", async () => {
  await using server = startTlsServer(await certificate());
  const url = `https://acme.example:${server.port}/`;
  assertEquals(await fetchText(url, await trust()), '{"a":1}');
  assertEquals(server.requests, [url]);
});

tlsTest("a certificate for another name is refused", async () => {
  await using server = startTlsServer(await certificate());
  const options = await trust();
  const error = await expectSigError(
    () => fetchText(`https://evil.example:${server.port}/`, options),
    "fetch_failed",
    "the server's certificate is for another name",
  );
  assertEquals(error.context.kind, "tls");
  assertEquals(server.requests, []);
});

tlsTest(
  "an IP address is checked against the certificate's addresses",
  async () => {
    const { authority } = await certificate();
    const options = { caCertificates: [authority] };
    await using server = startTlsServer(await certificate());
    const url = `https://127.0.0.1:${server.port}/`;
    assertEquals(await fetchText(url, options), '{"a":1}');

    const named = await makeCertificate("DNS:acme.example");
    await using other = startTlsServer(named);
    await expectSigError(
      () =>
        fetchText(`https://127.0.0.1:${other.port}/`, {
          caCertificates: [named.authority],
        }),
      "fetch_failed",
      "the server's certificate is for another name",
    );
  },
);

tlsTest("a certificate of an unknown authority is refused", async () => {
  await using server = startTlsServer(await certificate());
  const error = await expectSigError(
    () => fetchText(`https://acme.example:${server.port}/`, { resolve }),
    "fetch_failed",
    "the server's certificate is not trusted",
  );
  assertEquals(error.context.kind, "tls");
});

tlsTest("a server that does not speak TLS is fetch_failed", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    const connection = await listener.accept();
    await send(connection, "HTTP/1.1 400 Bad Request\r\n\r\n");
    await untilClosed(connection).catch(() => {});
    connection.close();
  })();
  const options = await trust();
  await expectSigError(
    () => fetchText(`https://acme.example:${listener.addr.port}/`, options),
    "fetch_failed",
    "the TLS handshake failed",
  );
  await serving;
  listener.close();
});

tlsTest("a handshake that hangs is fetch_timeout", async () => {
  await using server = startRawServer(untilClosed);
  const options = await trust();
  await expectSigError(
    () =>
      fetchText(`https://acme.example:${server.port}/`, {
        ...options,
        connectTimeoutMs: 100,
      }),
    "fetch_timeout",
    "no connection within 100 ms",
  );
});
