// OpenTelemetry, which is a feature of Deno that needs only environment
// variables.
import { assert, assertEquals } from "@std/assert";
import { Person } from "../../web/testdata/independent_client.ts";
import { tempFolder } from "../kit/process.ts";
import { serveLoopback } from "../kit/loopback.ts";
import { exchangeRaw, head } from "../kit/raw_client.ts";
import { HAS_REDIS, startRedis, whileFrozen } from "../kit/redis_server.ts";
import { askJson, ServerProcess } from "../kit/server_process.ts";
import { waitForEqual, waitUntil } from "../kit/wait.ts";
import { startLoopbackIssuer } from "../ship/testdata/loopback_issuer.ts";

// promise: No attribute of our metrics names a subject, a path or an id.

/** Attributes by name. */
type Attributes = { readonly [name: string]: string };

interface Span {
  /** The span's kind; 2 is a request that a server answers. */
  readonly kind: number;
  readonly traceId: string;
  readonly attributes: Attributes;
}

interface Point {
  readonly value: number;
  readonly attributes: Attributes;
}

// deno-lint-ignore no-explicit-any -- what a collector gets, as OTLP spells it
type Sent = any;

function attributesOf({ attributes }: Sent): Attributes {
  return Object.fromEntries(
    attributes.map(({ key, value }: Sent) => [
      key,
      String(value.stringValue ?? value.intValue),
    ]),
  );
}

/** Starts a collector on loopback. `env` contains the variables for it. */
function startCollector() {
  const spans: Span[] = [];
  /** The newest data points of each metric. */
  const metrics = new Map<string, readonly Point[]>();
  const server = serveLoopback(async (request) => {
    const sent: Sent = await request.json();
    const scopes = (sent.resourceSpans ?? [])
      .flatMap(({ scopeSpans }: Sent) => scopeSpans);
    for (const span of scopes.flatMap((scope: Sent) => scope.spans)) {
      spans.push({ ...span, attributes: attributesOf(span) });
    }
    const meters = (sent.resourceMetrics ?? [])
      .flatMap(({ scopeMetrics }: Sent) => scopeMetrics);
    for (
      const { name, sum, gauge } of meters.flatMap((each: Sent) => each.metrics)
    ) {
      const points = (sum ?? gauge)?.dataPoints ?? [];
      metrics.set(
        name,
        points.map((point: Sent) => ({
          value: point.asDouble ?? Number(point.asInt),
          attributes: attributesOf(point),
        })),
      );
    }
    return Response.json({});
  });
  return {
    ...{ ...server, spans, metrics },
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: server.origin,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    },
  };
}

/**
 * Exports immediately instead of at the end of the process. Deno sometimes does
 * not end if it is stopped while it exports metrics, so these servers are
 * killed.
 */
const EXPORT_IMMEDIATELY = {
  OTEL_METRIC_EXPORT_INTERVAL: "100",
  OTEL_BSP_SCHEDULE_DELAY: "100",
};

/** Returns the metrics of this project, each as its value and attributes. */
function projectMetrics(metrics: ReadonlyMap<string, readonly Point[]>) {
  return Object.fromEntries(
    [...metrics].filter(([name]) => name.startsWith("sig.")).map((
      [name, points],
    ) => [
      name,
      points.map(({ value, attributes }) =>
        [
          value,
          ...Object.keys(attributes).sort().map((name) => attributes[name]),
        ].join(" ")
      ).sort(),
    ]),
  );
}

Deno.test("api: OTEL_DENO exports one span per request and needs no further permission", async () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  await using collector = startCollector();
  await using server = await ServerProcess.start("api", [], {
    env: collector.env,
  });
  const traceparent = `traceparent: 00-${traceId}-b7ad6b7169203331-01`;
  await exchangeRaw(
    server.port,
    head("GET /healthz HTTP/1.1", [traceparent]),
  );
  await exchangeRaw(server.port, head("GET /nowhere HTTP/1.1"));
  // The remaining spans are exported at the end.
  assertEquals((await server.stop()).code, 0);
  assertEquals(
    collector.spans.map(({ attributes }) => [
      attributes["http.route"],
      attributes["http.response.status_code"],
    ]).sort(),
    [[undefined, "404"], ["/healthz", "200"]],
  );
  assert(collector.spans.some((span) => span.traceId === traceId));
});

/**
 * Asserts that no attribute of a metric contains one of these texts, or a path.
 */
function assertNoIdentifiers(
  metrics: ReadonlyMap<string, readonly Point[]>,
  names: readonly string[],
): void {
  const named = [...metrics.values()].flat()
    .flatMap(({ attributes }) => Object.entries(attributes))
    .filter(([name, value]) =>
      names.some((each) => value.includes(each)) ||
      value.includes("/") && name !== "http.route"
    );
  assertEquals(named, []);
}

Deno.test({
  name:
    "web: measures logins, sessions and store errors without identifying anybody",
  ignore: !HAS_REDIS,
  async fn() {
    await using collector = startCollector();
    await using issuer = await startLoopbackIssuer();
    await using folder = await tempFolder();
    const redis = await startRedis();
    const settings = ["--allow-insecure", "--store", redis.url];
    const person = new Person();
    const challengeOf = (url: string) =>
      askJson(`${url}/v1/auth/challenge/create`, {});
    {
      await using server = await ServerProcess.start("web", settings, {
        env: { ...collector.env, ...EXPORT_IMMEDIATELY },
      });
      const { body: challenge } = await challengeOf(server.url);
      const attestation = person.attest(challenge, Date.now());
      const verify = `${server.url}/v1/auth/attestation/verify`;
      for (const status of [200, 409]) {
        const login = await askJson(verify, { attestation });
        assertEquals(login.status, status);
      }
      await whileFrozen(redis, async () => {
        assertEquals((await challengeOf(server.url)).status, 503);
      });
      await waitForEqual(() => projectMetrics(collector.metrics), {
        "sig.logins": ["1"],
        "sig.store.errors": ["1"],
      });
    }
    // The sessions of an OpenID provider; there are none yet.
    {
      await using _ = await ServerProcess.start("web", [
        ...settings,
        ...["--issuer", issuer.host, "--require", "relationship=employee"],
        ...["--gate-host", "127.0.0.1:1"],
        ...["--oidc-keys", `${folder.path}/keys.json`],
      ], {
        env: { ...collector.env, ...EXPORT_IMMEDIATELY },
        permissions: [
          ...["--allow-net=127.0.0.1", `--allow-read=${folder.path}`],
          `--allow-write=${folder.path}`,
        ],
      });
      await waitUntil(
        "sessions are counted",
        () => projectMetrics(collector.metrics)["sig.sessions"]?.[0] === "0",
      );
    }
    assertNoIdentifiers(collector.metrics, [person.did, person.kid]);
    await redis.stop();
  },
});
