/** A manifest path that cannot be used when the proxy starts. Names the path and what to do. */
export class ManifestPathError extends Error {
  constructor(
    readonly path: string,
    /** The system's error code, such as `ENOENT`; `EMPTY` for no path at all, which would mean the current folder. */
    readonly code: string,
  ) {
    super(
      `cannot use the manifest path ${JSON.stringify(path)}: ${reasonOf(code)}; give an existing file or folder`,
    );
    this.name = 'ManifestPathError';
  }
}

/** A file that is no manifest whatever it holds. */
export class ManifestFileError extends Error {
  constructor(
    readonly file: string,
    /** What it is, and what is made of it. */
    readonly reason: string,
  ) {
    super(reason);
    this.name = 'ManifestFileError';
  }
}

/** Text that is neither JSON nor YAML. Line and column count from 1; undefined where the parser cannot tell. */
export class ManifestSyntaxError extends Error {
  constructor(
    reason: string,
    readonly line: number | undefined,
    readonly column: number | undefined,
  ) {
    super(reason);
    this.name = 'ManifestSyntaxError';
  }

  /** `file:line:column`, as far as known. */
  place(file: string): string {
    return [file, this.line, this.column].filter((part) => part !== undefined).join(':');
  }
}

function reasonOf(code: string): string {
  if (code === 'EMPTY') return 'it is empty';
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'access is denied';
  return `the system refuses it (${code})`;
}
