import { fieldsWith } from './field.js';
import { vmodule } from '../types/list-types.js';
import { boolOrNothing, flushDuration, quantity, text, verbosityLevel } from '../types/scalar-types.js';

const SECOND = 1_000;
const ALPHA_LOGGING = 'Needs the feature gate LoggingAlphaOptions.';

const loggingField = fieldsWith({ besideFile: true });

const outputStream = (format: string) => ({
  splitStream: loggingField(boolOrNothing, {
    flag: `log-${format}-split-stream`,
    onEdit: 'at-once',
    help: `In ${format} format, write informational lines to stdout. ${ALPHA_LOGGING}`,
  }),
  infoBufferSize: loggingField(quantity, {
    flag: `log-${format}-info-buffer-size`,
    onEdit: 'none',
    help: `Accepted without effect: every line is written immediately. ${ALPHA_LOGGING}`,
  }),
});

/** `logging`. The rules that it must keep are in logging-validation.ts, since they hold before the others. */
export const loggingFields = {
  format: loggingField(text, {
    default: 'text',
    flag: 'logging-format',
    onEdit: 'at-once',
    help: 'Format of log lines: text or json.',
  }),
  flushFrequency: loggingField(flushDuration, {
    default: 5 * SECOND,
    flag: 'log-flush-frequency',
    onEdit: 'none',
    help: 'Accepted without effect: every line is written immediately.',
  }),
  verbosity: loggingField(verbosityLevel, {
    flag: 'v',
    onEdit: 'at-once',
    help: 'Log verbosity; higher numbers log more.',
  }),
  vmodule: loggingField(vmodule, {
    flag: 'vmodule',
    onEdit: 'none',
    help: 'Accepted without effect: source files have other names here. Text format only.',
    joinWithFile: (flag, file) => [...flag, ...file],
  }),
  options: { text: outputStream('text'), json: outputStream('json') },
};
