import { inToneOf } from '../output/tones.js';
import { hostPort } from '../../../domain/net/address.js';
import type { Step } from '../../../domain/trace/trace.js';
import { counted } from '../../../application/words/counted.js';
import { SOURCE_WORDS } from '../../../application/words/source-words.js';
import type { TraceAnswer } from '../../../application/trace/answer.js';
import type { TracedRules } from '../../../application/trace/trace-packets.js';

/** As many as fit on a screen; where random choices part, the steps of all parts are much alike. */
const STEPS_SHOWN = 16;

/** An answer for people: the way of the packet, then what becomes of it. @param isWide with all steps */
export function traceLines(answer: TraceAnswer, rules: TracedRules, isWide: boolean): readonly string[] {
  const { steps, remarks } = answer;
  const shown = isWide ? steps : steps.slice(0, STEPS_SHOWN);
  const more = steps.length - shown.length;
  return [
    heading(answer, rules),
    ...shown.flatMap(stepLines),
    ...(more > 0 ? [`  … ${counted(more, 'more step')}; -o wide shows all`] : []),
    ...(steps.length === 0 ? ['  no rule concerns it'] : []),
    ...outcomeLines(answer),
    ...remarks.map((remark) => `note: ${remark}`),
    ...(answer.isUncertain ? ['note: uncertain; the steps say why'] : []),
  ];
}

function heading({ packet }: TraceAnswer, rules: TracedRules): string {
  const { source, inputInterface, destination, destinationPort, protocol } = packet;
  const way = inputInterface === undefined ? 'sent by this node' : `coming in through ${inputInterface}`;
  const which = rules === 'actual' ? 'as the kernel has them' : 'as they should be';
  const to = `${hostPort(destination, destinationPort)}/${protocol}`;
  return `${source || 'node'} → ${to}, ${way}, by the rules ${which}`;
}

function stepLines({ hook, where, rule, effect, servicePort, isForeign }: Step): readonly string[] {
  const owner = isForeign
    ? '  (rule of another program)'
    : servicePort === undefined
      ? ''
      : `  (${servicePort})`;
  return [`  ${hook}: ${where}${owner}`, ...(rule === '' ? [] : [`    ${rule}`]), `    → ${effect}`];
}

function outcomeLines({
  outcome,
  reason,
  endpoints,
  sourceRewritten,
  sticky,
  steps,
}: TraceAnswer): readonly string[] {
  const lines = [`outcome: ${inToneOf(outcome)}`, ...(reason === undefined ? [] : [`  because ${reason}`])];
  for (const { address, port, probability } of endpoints)
    lines.push(`  ${(probability * 100).toFixed(1).padStart(5)} %  ${hostPort(address, port)}`);
  if (endpoints.length === 0) return lines;
  lines.push(`source: ${SOURCE_WORDS[`${sourceRewritten}`]}`);
  const rewriting = steps.find(({ effect }) => /masquerade|rewrites the source/.test(effect));
  if (sourceRewritten !== false && rewriting)
    lines.push(`  because of ${rewriting.where}: ${rewriting.rule}`);
  lines.push(`affinity: ${sticky ? 'the same client gets the same endpoint again' : 'none'}`);
  return lines;
}
