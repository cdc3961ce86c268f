/**
 * Finds phrases that must not return: riddles, negated nouns and overused
 * words. Run by `deno task check:language`, part of `deno task test`. Each
 * phrase has a replacement; the glossary is in CONTRIBUTING.md.
 *
 * @module
 */

import { ownFiles, ROOT } from "./workspace.ts";

/** A phrase and its replacement. */
type Phrase = readonly [pattern: RegExp, instead: string];

const PHRASES: readonly Phrase[] = [
  [/\bunless (?:it is )?told\b/, '"(default: …)"'],
  [/(?<!\b[Tt]here )\b(?:is|are|was|were) none\b/, '"is not a …"'],
  [
    /(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|later\b)[a-z]\w*/,
    '"is not a …"',
  ],
  [/\bnames no [a-z]\w*/, '"unknown …"'],
  [/\banew\b/, '"again", or what is rebuilt'],
  [/\bwhoever\b/i, "the role: the reader, the caller, an attacker"],
  [/\b(?:is|are|was|were|be|been) told (?!to\b|apart\b)/, "what receives what"],
  [/\bfor ever\b/, '"permanently", "without end"'],
  [/\bWords:/, '"Arguments:"'],
  [/\bone word too many\b/, '"unexpected argument: …"'],
  [/\bwhat people are told\b/, '"display name"'],
  [/\bbetween two looks\b/, '"poll interval"'],
  [/\bmay become so\b|\bwho is there\b/, "the field's word"],
  [/\bMend the (?:lines|file)\b/, '"Fix the lines"'],
  [/\bhas agreed to its\b/, '"… changes need confirmation"'],
  [/\bcan't go on\b|\band now a no\b/, '"we couldn\'t …"'],
  [/\bprogram that stays\b/, '"long-running program"'],
  [/\bname of yours\b/, '"identifies you"'],
  [/\bletOthersRun\b|\bbreathe\b/, "yieldToEventLoop"],
  [/\bRequestFlow\b|\bcreateShares\b|\bPlaces\b/, "Semaphore, Quota"],
  [/\bFarewell\b|\bHandedOut\b/, "LogoutNotification, IssuedTokens"],
  [/\bpatientQuestion\b|\blastWord\b/, "recheckSession, lastKnownStanding"],
  [/\breadAnew\b|\bgoOn\b/, "verifyFromStart, continueFrom"],
  [/\bPublicSign\b|\broomOf\b/, "Exposure, partitionOf"],
  [/\bjudgeContinuity\b|\bJudging\b/, "checkContinuity, Evaluator"],
];

/** An occurrence of a phrase that must not return. */
export interface LanguageFault {
  /** The line, from 1. */
  readonly line: number;
  /** The text of the occurrence. */
  readonly found: string;
  /** The replacement. */
  readonly instead: string;
}

/** Returns the phrases in a text that must not return. */
export function findPhrases(text: string): LanguageFault[] {
  return text.split("\n").flatMap((line, at) =>
    PHRASES.flatMap(([pattern, instead]) => {
      const found = pattern.exec(line)?.[0];
      return found === undefined ? [] : [{ line: at + 1, found, instead }];
    })
  );
}

/** Texts of this project that people write. */
const CHECKED = /^(?!(?:tools\/)?vectors\/).*\.(?:tsx?|md|sh|txt)$/;
/** Files that quote the phrases. */
const OWN = ["tools/check_language.ts", "tests/check_language_test.ts"];

if (import.meta.main) {
  let faults = 0;
  for (const path of ownFiles()) {
    if (!CHECKED.test(path) || OWN.includes(path)) continue;
    const text = Deno.readTextFileSync(new URL(path, ROOT));
    for (const { line, found, instead } of findPhrases(text)) {
      console.error(`${path}:${line}: "${found}"; write ${instead}`);
      faults++;
    }
  }
  if (faults > 0) {
    console.error(`${faults} phrases; see "Language" in CONTRIBUTING.md`);
    Deno.exit(1);
  }
}
