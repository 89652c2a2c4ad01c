import { inToneOf } from '../output/tones.js';
import { hostPort } from '../../../../domain/net/address.js';
import { grouped } from '../../../../domain/model/maps.js';
import { foldSteps, type FoldedStep } from '../../../domain/trace/trace.js';
import { counted } from '../../../../application/words/counted.js';
import { SOURCE_WORDS } from '../../../application/words/source-words.js';
import type { TraceAnswer } from '../../../application/trace/answer.js';
import type { TracedRules } from '../../../application/trace/trace-packets.js';

/** As many as fit on a screen. */
const STEPS_SHOWN = 16;
/** So many endpoints with the same probability are told in one line. */
const MANY_ENDPOINTS = 9;

/**
 * An answer for people: the way of the packet, then what becomes of it. What is the same for all endpoints, or alike, is there once.
 * @param isWide with all steps and all endpoints
 */
export function traceLines(answer: TraceAnswer, rules: TracedRules, isWide: boolean): readonly string[] {
  const { remarks } = answer;
  const steps = isWide ? answer.steps.map((step) => ({ step, alike: [] })) : foldSteps(answer.steps);
  const shown = isWide ? steps : steps.slice(0, STEPS_SHOWN);
  const more = steps.length - shown.length;
  return [
    heading(answer, rules),
    ...shown.flatMap(stepLines),
    ...(more > 0 ? [`  … ${counted(more, 'more step')}; -o wide shows all`] : []),
    ...(steps.length === 0 ? ['  no rule concerns it'] : []),
    ...outcomeLines(answer, isWide),
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

function stepLines({ step, alike }: FoldedStep): readonly string[] {
  const { hook, where, rule, effect, servicePort, isForeign } = step;
  const owner = isForeign
    ? '  (rule of another program)'
    : servicePort === undefined
      ? ''
      : `  (${servicePort})`;
  return [
    `  ${hook}: ${where}${owner}`,
    ...(rule === '' ? [] : [`    ${rule}`]),
    `    → ${effect}`,
    ...(alike.length > 0 ? [`    … and ${alike.length} more like it, for other endpoints`] : []),
  ];
}

function outcomeLines(
  { outcome, reason, endpoints, sourceRewritten, sticky, steps }: TraceAnswer,
  isWide: boolean,
): readonly string[] {
  const lines = [`outcome: ${inToneOf(outcome)}`, ...(reason === undefined ? [] : [`  because ${reason}`])];
  const equal = grouped(endpoints, ({ probability }) => (probability * 100).toFixed(1).padStart(5));
  for (const [percent, alike] of equal) {
    const places = alike.map(({ address, port }) => hostPort(address, port));
    const told =
      isWide || places.length < MANY_ENDPOINTS
        ? places
        : [`each of ${counted(places.length, 'endpoint')}, such as ${places[0]}; -o wide names them`];
    lines.push(...told.map((text) => `  ${percent} %  ${text}`));
  }
  if (endpoints.length === 0) return lines;
  lines.push(`source: ${SOURCE_WORDS[`${sourceRewritten}`]}`);
  const rewriting = steps.find(({ effect }) => /masquerade|rewrites the source/.test(effect));
  if (sourceRewritten !== false && rewriting)
    lines.push(`  because of ${rewriting.where}: ${rewriting.rule}`);
  lines.push(`affinity: ${sticky ? 'the same client gets the same endpoint again' : 'none'}`);
  return lines;
}
