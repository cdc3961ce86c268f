/** Files of the person, which go nowhere. @module */

/** A button that lets a person choose files. */
export function OpenFiles({ id, hint, onFiles }: {
  readonly id: string;
  /** For people who don't see what is around it. */
  readonly hint: string;
  readonly onFiles: (files: readonly File[]) => void;
}) {
  return (
    <>
      <label class="button file">
        Open files
        <input
          id={id}
          class="visually-hidden"
          type="file"
          multiple
          aria-describedby={`${id}-hint`}
          onChange={(event) => {
            const input = event.currentTarget;
            const files = [...input.files ?? []];
            if (files.length > 0) onFiles(files);
            // The same files may be chosen again after they were changed.
            input.value = "";
          }}
        />
      </label>
      <p id={`${id}-hint`} class="visually-hidden">{hint}</p>
    </>
  );
}
