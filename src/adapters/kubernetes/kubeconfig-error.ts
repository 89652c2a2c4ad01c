/** The way to the API server is not configured, or its configuration cannot be used. Not mended by retrying. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';

  constructor(
    /** The file that is to blame, or "in-cluster". */
    readonly file: string,
    problem: string,
    advice: string,
    options?: ErrorOptions,
  ) {
    super(`${file}: ${problem}; ${advice}`, options);
  }
}
