import { NamedError } from '../../domain/model/named-error.js';

/** A manifest path is unusable at the start. Names the path and what to do. */
export class ManifestPathError extends NamedError {
  constructor(
    readonly path: string,
    /** The system's error code, such as `ENOENT`; `EMPTY` for no path at all, which would mean the current folder. */
    readonly code: string,
  ) {
    super(
      `cannot use the manifest path ${JSON.stringify(path)}: ${reasonOf(code)}; use an existing file or folder`,
    );
  }
}

/** A file that cannot be a manifest, whatever its contents. */
export class ManifestFileError extends NamedError {
  constructor(
    readonly file: string,
    /** What it is, and the consequence. */
    readonly reason: string,
  ) {
    super(reason);
  }
}

/** Text that is neither JSON nor YAML. Line and column count from 1; undefined if the parser does not know. */
export class ManifestSyntaxError extends NamedError {
  constructor(
    reason: string,
    readonly line: number | undefined,
    readonly column: number | undefined,
  ) {
    super(reason);
  }

  /** `file:line:column`, without the unknown parts. */
  place(file: string): string {
    return [file, this.line, this.column].filter((part) => part !== undefined).join(':');
  }
}

function reasonOf(code: string): string {
  if (code === 'EMPTY') return 'it is empty';
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'access is denied';
  return `the system reports ${code}`;
}
