import { Option } from 'commander';
import { KNOWN_DIFFERENCES } from '../../../domain/compare/known-differences.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';

const KNOWN = KNOWN_DIFFERENCES.map(({ name }) => name);

/** `--expect NAMES`, for commands that compare. */
export function expectOption(description: string): Option {
  return new Option('--expect <names>', description).argParser(
    (names: string, former: readonly string[] = []) => [...former, ...names.split(',')],
  );
}

/** @throws UsageError */
export function refuseUnknownDifferences(names: readonly string[]): void {
  for (const name of names)
    if (!KNOWN.includes(name))
      throw new UsageError(
        `there is no known difference ${JSON.stringify(name)}; there are ${KNOWN.join(', ')}`,
      );
}
