/** Answering with `sig attest` instead of this browser's key. @module */

import type { TargetedSubmitEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { Copyable, CopyButton } from "../parts/copy.tsx";
import { downloadJson } from "../parts/download.ts";
import type { Challenge } from "../server/config.ts";

const COMMAND = "sig attest --challenge challenge.json --key alice.jwk";

/** The way by the command line, in three steps. */
export function ByHand({ challenge, onAnswer }: {
  readonly challenge: Challenge;
  readonly onAnswer: (attestation: string) => void;
}) {
  const [error, setError] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  const text = `${JSON.stringify(challenge, null, 2)}\n`;

  function submit(event: TargetedSubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const answer = box.current?.value.replaceAll(/\s/g, "") ?? "";
    setError(answer === "" ? "Nothing is pasted yet." : "");
    if (answer === "") box.current?.focus();
    else onAnswer(answer);
  }

  return (
    <ol class="by-hand">
      <li>
        <p>
          Save the request as <code>challenge.json</code>.
        </p>
        <div class="actions">
          <button
            type="button"
            onClick={() => downloadJson("challenge.json", text)}
          >
            Download challenge.json
          </button>
          <CopyButton text={() => text} what="the request as JSON" />
        </div>
      </li>
      <li>
        <p>
          Sign it with your key. To make one:{" "}
          <code>sig key generate --out alice.jwk</code>.
        </p>
        <Copyable visible={COMMAND} what="the command" />
      </li>
      <li>
        <form onSubmit={submit}>
          <div class="field">
            <label for="attestation">Paste what it printed</label>
            <textarea
              id="attestation"
              ref={box}
              rows={4}
              spellcheck={false}
              autocomplete="off"
              autocapitalize="none"
              aria-describedby="attestation-error"
            />
            <p id="attestation-error" class="error" aria-live="polite">
              {error}
            </p>
          </div>
          <button type="submit">Send the answer</button>
        </form>
      </li>
    </ol>
  );
}
