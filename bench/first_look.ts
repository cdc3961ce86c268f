/**
 * A first read by proof compared with one by the feed: requests, bytes and
 * time; and evidence: size and time. Argument: the numbers of events, one for
 * each subject.
 *
 * @module
 */

import {
  checkIssuer,
  makeEvidence,
  openSource,
  parseSource,
  SignatureWorkers,
  verifyEvidence,
} from "@sig/consumer";
import { createIssuerSite } from "../cli/site/issuer_site.ts";
import { importVerificationKey } from "@sig/jose";
import { serveLoopback } from "../tests/kit/loopback.ts";
import { openFileIssuer } from "./feed.ts";
import { median } from "./pairs.ts";

const SIZES = Deno.args.length > 0
  ? Deno.args.map(Number)
  : [100, 10_000, 100_000];
const ROUNDS = 20;

class Traffic {
  requests = 0;
  bytes = 0;

  take(): string {
    const said = `${this.requests} requests, ${
      (this.bytes / 1000).toFixed(1)
    } KB`;
    this.requests = this.bytes = 0;
    return said;
  }
}

async function measure(events: number): Promise<void> {
  const site = Promise.withResolvers<ReturnType<typeof createIssuerSite>>();
  const traffic = new Traffic();
  await using server = serveLoopback(async (request) => {
    const response = await (await site.promise)(request);
    traffic.requests++;
    traffic.bytes += Number(response.headers.get("content-length") ?? 0);
    return response;
  });
  const { did } = server;
  await using made = await openFileIssuer(events, { did });
  site.resolve(createIssuerSite(`${made.dir}/issuer`));
  await made.issuer.checkpoint({ init: true });
  const policy = { allowPrivate: true };
  const location = openSource(parseSource(did, policy), policy);
  const subject = `did:web:person-${events >> 1}.example`;
  const question = { subject, require: ["role=deploy"] } as const;
  const workers = new SignatureWorkers();
  const times: number[] = [];
  let said = "";
  for (let round = 0; round < ROUNDS; round++) {
    traffic.take();
    const start = performance.now();
    const { proof } = await checkIssuer(location, question, {
      now: new Date(),
    });
    times.push(performance.now() - start);
    if (proof === null) throw new Error("It was not answered by proof");
    said = traffic.take();
  }
  console.log(
    `${events} events by proof: ${said}, ${median(times).toFixed(1)} ms`,
  );
  const start = performance.now();
  await checkIssuer(location, question, {
    ...{ now: new Date(), proofs: false, workers },
  });
  const ms = performance.now() - start;
  console.log(
    `${events} events by feed: ${traffic.take()}, ${ms.toFixed(1)} ms`,
  );
  const at = new Date().toISOString();
  const evidence = await makeEvidence(location, { ...question, at }, {
    now: new Date(),
  });
  const bytes = new TextEncoder().encode(JSON.stringify(evidence));
  const trusted = await Promise.all(
    Object.values(evidence.keys).map((x) =>
      importVerificationKey({ kty: "OKP", crv: "Ed25519", x })
    ),
  );
  const verified: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await verifyEvidence(bytes, trusted);
    verified.push(performance.now() - start);
  }
  console.log(
    `${events} events, evidence: ${bytes.length} bytes, verified in ` +
      `${median(verified).toFixed(1)} ms`,
  );
}

for (const events of SIZES) await measure(events);
