/** An issuer with proofs, and processes that share a memory of it. */

import type { CheckAnswer } from "@sig/core";
import type { ConsumerOptions } from "../consumer.ts";
import { type ProofsContent, publishProofs } from "../../tests/kit/proofs.ts";
import { importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import { QUESTION } from "../../tests/kit/watched_issuer.ts";
import { rememberIssuer } from "./remembered_issuer.ts";

const [key1] = await importTestKeys();

/** An issuer with proofs, and processes that share a memory of it. */
export type ProvenIssuer = Awaited<ReturnType<typeof startProvenIssuer>>;

/** Starts an issuer with upserts 1 to n, and proofs of them. */
export async function startProvenIssuer(events: number) {
  const issuer = await rememberIssuer(events);
  const { did, lines, line, publish, server: { documents, origin } } = issuer;
  const prove = (
    lines: readonly string[],
    content: Partial<ProofsContent> = {},
  ) => publishProofs(documents, { origin, keys: [key1], lines, ...content });
  await prove(lines);
  return {
    ...{ ...issuer, prove },
    /** Answers by proof as a new process. */
    ask: (options: Partial<ConsumerOptions> = {}): Promise<CheckAnswer> =>
      issuer.fresh({ proofs: "always", ...options }).check(did, QUESTION),
    /** Reads the whole feed as a new process. */
    read: () => issuer.verify({ proofs: "never" }),
    /** Publishes lines and their proofs. */
    async publishProven(
      lines: readonly string[],
      content?: Partial<ProofsContent>,
    ) {
      publish(lines);
      await prove(lines, content);
    },
    /** Returns the lines with one more line. */
    longer: async (key = key1) => [...lines, await line(events + 1, key)],
    /** Removes the proofs from the metadata; returns the old metadata. */
    withoutProofs() {
      const metadata = documents.get(PATHS.metadata) as string;
      const { proofs_uri: _, ...without } = JSON.parse(metadata);
      documents.set(PATHS.metadata, JSON.stringify(without));
      return metadata;
    },
    silence: () => documents.delete(PATHS.metadata),
  };
}
