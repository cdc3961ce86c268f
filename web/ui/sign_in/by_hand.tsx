/** Answering with `sig attest` instead of this browser's key. @module */

import { useRef, useState } from "preact/hooks";
import type { Challenge } from "../api.ts";
import { Copyable, CopyButton, Download } from "../copy.tsx";

const COMMAND = "sig attest --challenge challenge.json --key alice.jwk";

/** The three steps on the command line. */
export function ByHand({ challenge, onAnswer }: {
  readonly challenge: Challenge;
  readonly onAnswer: (attestation: string) => void;
}) {
  const [error, setError] = useState("");
  const box = useRef<HTMLTextAreaElement>(null);
  const text = `${JSON.stringify(challenge, null, 2)}\n`;
  return (
    <ol class="by-hand">
      <li>
        <p>
          Save the request as <code>challenge.json</code>.
        </p>
        <div class="actions">
          <Download name="challenge.json" text={text} />
          <CopyButton text={() => text} what="the request as JSON" />
        </div>
      </li>
      <li>
        <p>
          Sign it with your key. To create one:{" "}
          <code>sig key generate --out alice.jwk</code>.
        </p>
        <Copyable visible={COMMAND} what="the command" />
      </li>
      <li>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const answer = box.current?.value.replaceAll(/\s/g, "") ?? "";
            setError(answer === "" ? "Paste the answer first." : "");
            if (answer === "") box.current?.focus();
            else onAnswer(answer);
          }}
        >
          <div class="field">
            <label for="attestation">Paste the output</label>
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
