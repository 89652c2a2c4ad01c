import type { LogSettings } from '../../adapters/process/pino-logger.js';
import type { Configuration } from './schema/schema.js';

/** What of `logging` the log can do. */
export function logSettings({ logging }: Pick<Configuration, 'logging'>): LogSettings {
  const format = logging.format === 'json' ? 'json' : 'text';
  return { format, verbosity: logging.verbosity, splitStream: logging.options[format].splitStream };
}
