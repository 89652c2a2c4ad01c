import type { LogSettings } from '../../adapters/process/pino-logger.js';
import type { Configuration } from './schema/schema.js';

/** The settings of `logging` that the log supports. */
export function logSettings({ logging }: Pick<Configuration, 'logging'>): LogSettings {
  const format = logging.format === 'json' ? 'json' : 'text';
  return { format, verbosity: logging.verbosity, splitStream: logging.options[format].splitStream };
}
