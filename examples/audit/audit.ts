/**
 * Checks a past decision against the state at that time and against the events known then.
 *
 *   audit.ts SOURCE SUBJECT ROLE INSTANT
 *
 * @module
 */

import { openSource, parseSource, verifyIssuer } from "@sig/consumer";
import { check, isSigError, type Question, type SigEvent } from "@sig/core";

const [source, subject, role, instant] = Deno.args;
if (!source || !subject || !role || !instant) {
  console.error("Usage: audit.ts SOURCE SUBJECT ROLE INSTANT");
  Deno.exit(2);
}

const allowPrivate = Deno.env.get("ALLOW_INSECURE") === "1";
const now = new Date();
const about: SigEvent[] = [];

try {
  const location = openSource(parseSource(source, { allowPrivate }), {
    allowPrivate,
  });
  const { feed, issuer, source: proof, state } = await verifyIssuer(location, {
    now,
    onEvent({ event }) {
      if (event.subject === subject) about.push(event as SigEvent);
    },
  });
  console.log(`${issuer} (${proof}), ${feed.verifiedEvents} events verified`);
  for (const { event_type, issued_at, sequence } of about) {
    console.log(`  #${sequence} ${issued_at} ${event_type}`);
  }
  const question: Question = { subject, require: [`role=${role}`], now };
  const questions: readonly (readonly [string, Question])[] = [
    ["now", question],
    [`true at ${instant}`, { ...question, at: instant }],
    [`known by ${instant}`, { ...question, asOf: instant }],
  ];
  for (const [title, each] of questions) {
    const { decision, last_sequence, reasons } = check(state, each);
    const why = reasons.map(({ code }) => code).join(", ");
    console.log(
      `${title}: ${decision}${
        why && ` (${why})`
      }, from ${last_sequence} events`,
    );
  }
} catch (error) {
  if (!isSigError(error)) throw error;
  console.error(`no answer: ${error.code}: ${error.message}`);
  Deno.exit(2);
}
