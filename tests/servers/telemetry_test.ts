// OpenTelemetry is Deno's own: switched on by variables, with nothing else.
import { assert, assertEquals } from "@std/assert";
import { exchangeRaw, head } from "../kit/raw_client.ts";
import { ServerProcess, SERVERS } from "../kit/server_process.ts";

interface Span {
  readonly traceId: string;
  readonly attributes: readonly {
    readonly key: string;
    readonly value: {
      readonly stringValue?: string;
      readonly intValue?: string;
    };
  }[];
}

/** A collector on loopback; `spans` grows as they arrive. */
function startCollector() {
  const spans: Span[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const sent = await request.json();
      for (const { scopeSpans } of sent.resourceSpans ?? []) {
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      return Response.json({});
    },
  );
  return { spans, server, url: `http://127.0.0.1:${server.addr.port}` };
}

function attributeOf(span: Span, key: string): string | undefined {
  const value = span.attributes.find((each) => each.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
}

for (const name of SERVERS) {
  Deno.test(`${name}: OTEL_DENO sends a span a request, and no permission more`, async () => {
    const collector = startCollector();
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    {
      await using server = await ServerProcess.start(name, [], {
        env: {
          OTEL_DENO: "true",
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        },
      });
      const traceparent = `traceparent: 00-${traceId}-b7ad6b7169203331-01`;
      await exchangeRaw(
        server.port,
        head("GET /healthz HTTP/1.1", [traceparent]),
      );
      await exchangeRaw(server.port, head("GET /nowhere HTTP/1.1"));
      // What was not sent yet is sent at the end.
      assertEquals((await server.stop()).code, 0);
    }
    await collector.server.shutdown();
    const seen = collector.spans.map((span) => [
      attributeOf(span, "url.path") ?? attributeOf(span, "url.full"),
      attributeOf(span, "http.response.status_code"),
    ]);
    assertEquals(seen.length, 2, JSON.stringify(collector.spans));
    assert(
      seen.some(([path, status]) =>
        path!.endsWith("/healthz") && status === "200"
      ),
    );
    assert(
      seen.some(([path, status]) =>
        path!.endsWith("/nowhere") && status === "404"
      ),
    );
    assert(collector.spans.some((span) => span.traceId === traceId));
  });
}
