/** Random feeds that an issuer with proofs may publish. @module */

import type { SigningKey } from "@sig/jose";
import { lineOf } from "../../tests/kit/test_issuer.ts";

/**
 * Returns an integer from 0 to `n - 1`; the sequence depends only on the seed.
 */
export type Random = (n: number) => number;

/** Creates a Mulberry32 generator. */
export function randomOf(seed: number): Random {
  return (n) => {
    seed = seed + 0x6d2b79f5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return Math.floor(((t ^ t >>> 14) >>> 0) / 2 ** 32 * n);
  };
}

const ROLES = ["deploy", "read", "write"];
const DAY_MS = 86_400_000;

/** Returns the name of a subject of a random feed. */
export function subjectName(i: number): string {
  return `did:web:s${i}.example`;
}

/** Day 0 of a random feed; the first event is issued a day later. */
export const FIRST_DAY_MS: number = Date.parse("2026-01-01T00:00:00Z");

function day(n: number): string {
  return new Date(FIRST_DAY_MS + n * DAY_MS).toISOString();
}

/**
 * Returns signed lines, one per day: upserts, changes, and revokes, also of
 * unknown relationships.
 */
export async function randomLines(
  random: Random,
  { events, subjects, issuer, key }: {
    readonly events: number;
    readonly subjects: number;
    readonly issuer: string;
    readonly key: SigningKey;
  },
): Promise<string[]> {
  const homes = new Map<string, string>();
  const lines: string[] = [];
  for (let sequence = 1; sequence <= events; sequence++) {
    const known = [...homes.keys()];
    const isNew = known.length === 0 || random(3) === 0;
    const id = isNew ? `rel-${sequence}` : known[random(known.length)]!;
    const base = {
      ...{ spec_version: "sig/0.1", issuer, sequence, visibility: "public" },
      ...{ event_id: `event-${sequence}`, issued_at: day(sequence) },
      relationship_id: id,
      subject: homes.get(id) ?? subjectName(random(subjects)),
    };
    const isRevoke = random(4) === 0;
    if (!isRevoke) homes.set(id, base.subject);
    lines.push(
      await lineOf(
        isRevoke
          ? {
            ...{ ...base, event_type: "relationship.revoke" },
            ...{ revokes_relationship_id: id, reason_code: "admin_action" },
            effective_at: day(sequence - random(3)),
          }
          : {
            ...{ ...base, event_type: "relationship.upsert", status: "active" },
            relationship_type: random(2) === 0 ? "employee" : "contractor",
            roles: ROLES.filter(() => random(2) === 0),
            valid_from: random(4) === 0 ? day(sequence - random(20)) : null,
            valid_until: random(4) === 0
              ? day(sequence + random(20) + 1)
              : null,
          },
        key,
      ),
    );
  }
  return lines;
}
