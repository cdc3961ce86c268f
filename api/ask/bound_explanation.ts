/** Explanations of a bounded size. @module */

import type { CheckAnswer, ExplainedRelationship } from "@sig/core";
import type { AnswerLimits } from "@sig/core/internal";

/**
 * The feed decides how many relationships a subject has: an answer tells of the
 * first of them, and how many are left out. It rests upon all of them.
 */
export const ANSWER_LIMITS: Required<AnswerLimits> = Object.freeze({
  maxExplained: 1_000,
  maxVerdicts: 8_192,
  maxReasons: 100,
});

/**
 * Characters of an explanation's texts at most. Every relationship repeats the
 * requirements, which a request can make very long.
 */
const MAX_EXPLAINED_LENGTH = 1024 * 1024;

/**
 * The answer with an explanation that can be sent. Where relationships are left
 * out, `explain` says so and how many there are; the one that matched stays.
 * The decision and its reasons rest upon all of them.
 */
export function boundExplanation(answer: CheckAnswer): CheckAnswer {
  const { explain, matched_relationship_id: matched } = answer;
  if (explain === undefined) return answer;
  const all = explain.relationships;
  const count = countThatFit(all);
  if (count === all.length) return answer;
  const relationships = all.slice(0, count);
  const match = all.findIndex((each) => each.relationship_id === matched);
  if (match >= count) relationships.splice(-1, 1, all[match]!);
  return {
    ...answer,
    explain: {
      ...explain,
      relationships,
      truncated: true,
      relationship_count: explain.relationship_count ?? all.length,
    },
  };
}

/** One at least: its texts stand in the request or on one line of the feed. */
function countThatFit(all: readonly ExplainedRelationship[]): number {
  const requirementsLength = (all[0]?.requirements ?? []).reduce(
    (sum, { value }) => sum + value.length,
    0,
  );
  let length = 0;
  let count = 0;
  for (const { relationship_id, roles } of all) {
    length += requirementsLength + relationship_id.length +
      roles.reduce((sum, role) => sum + role.length, 0);
    if (count > 0 && length > MAX_EXPLAINED_LENGTH) break;
    count++;
  }
  return count;
}
