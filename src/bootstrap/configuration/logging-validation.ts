import { formatDuration } from '../../application/words/duration.js';
import type { FeatureGates } from './schema/feature-gates.js';
import type { Configuration } from './schema/schema.js';

const HIGHEST_VERBOSITY = 2 ** 31 - 1;

/** What is wrong with the logging configuration (docs/spec/configuration.md §4.2), with paths below `root`. */
export function loggingProblems(
  logging: Configuration['logging'],
  gates: FeatureGates,
  root: string,
): readonly string[] {
  const problems: string[] = [];
  const invalid = (path: string, value: unknown, rule: string) =>
    problems.push(`${root}.${path}: Invalid value: ${JSON.stringify(value)}: ${rule}`);

  if (logging.flushFrequency <= 0) {
    invalid('flushFrequency', formatDuration(logging.flushFrequency), 'Must be greater than zero');
  }
  if (!['text', 'json'].includes(logging.format)) invalid('format', logging.format, 'Unsupported log format');
  if (logging.verbosity > HIGHEST_VERBOSITY) {
    invalid('verbosity', logging.verbosity, `Must be <= ${HIGHEST_VERBOSITY}`);
  }
  if (logging.vmodule.length > 0 && logging.format !== 'text') {
    problems.push(`${root}.vmodule: Forbidden: Only supported for text log format`);
  }
  logging.vmodule.forEach(({ filePattern, verbosity }, index) => {
    const path = `vmodule[${index}]`;
    if (filePattern === '') problems.push(`${root}.${path}: Required value: File pattern must not be empty`);
    if (/[=,]/.test(filePattern))
      invalid(path, filePattern, 'File pattern must not contain equal sign or comma');
    if (verbosity > HIGHEST_VERBOSITY) invalid(path, verbosity, `Must be <= ${HIGHEST_VERBOSITY}`);
  });
  if (!gates.LoggingAlphaOptions) {
    for (const format of ['text', 'json'] as const) {
      const { splitStream, infoBufferSize } = logging.options[format];
      const forbid = (name: string) =>
        problems.push(
          `${root}.options.${format}.${name}: Forbidden: Feature LoggingAlphaOptions is disabled`,
        );
      if (splitStream) forbid('splitStream');
      if (!/^[+-]?[0.]+(\D.*)?$/.test(infoBufferSize)) forbid('infoBufferSize');
    }
  }
  return problems;
}
