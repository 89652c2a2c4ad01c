/** The tool does not understand its input. It exits with 2, before the kernel has seen any of it. */
export class ParameterProblem extends Error {
  override readonly name = 'ParameterProblem';

  /** @param isBare the tool says it without its own name and version before it */
  constructor(
    message: string,
    readonly isBare = false,
  ) {
    super(message);
  }
}
