import { Document, parse, Scalar, visit } from 'yaml';
import { effectiveConfiguration } from './effective-configuration.js';
import type { Configured } from './proxy-configuration.js';

/** The configuration in effect as YAML, in the style in which kube-proxy writes it (docs/spec/configuration.md §5). */
export function configurationText(commandLine: Configured): string {
  const document = new Document(effectiveConfiguration(commandLine));
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === 'string' && looksLikeOther(scalar.value)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ singleQuote: true, indentSeq: false, lineWidth: 0 });
}

/** Whether a reader would take the text without quotes for null, a boolean or a number. */
function looksLikeOther(text: string): boolean {
  try {
    const value: unknown = parse(text, { version: '1.1', logLevel: 'silent' });
    return typeof value !== 'string' && (value === null || typeof value !== 'object');
  } catch {
    return false;
  }
}
