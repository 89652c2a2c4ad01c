import type {
  AddressExplanation,
  EndpointMatch,
  FrontendMatch,
} from '../../../application/explain/address-explanation.js';
import { portWords } from '../../../application/words/port-words.js';
import { acceptedSourcesText } from '../../../application/words/source-words.js';
import { endpointText, frontendText, statusText } from './explanation.js';

/** For people. */
export function addressExplanationLines(explained: AddressExplanation): readonly string[] {
  const { subject, frontends, endpoints, otherwise } = explained;
  return [
    subject,
    ...(otherwise === undefined ? [] : [`  ${otherwise}`]),
    ...frontends.flatMap((match) => [
      `  frontend of ${ownerText(match)}: ${statusText(match.status)}`,
      `    ${frontendText(match.frontend)}`,
      ...(match.sourceRanges ? [`    ${acceptedSourcesText(match.sourceRanges)}`] : []),
    ]),
    ...endpoints.flatMap((match) => [
      `  endpoint of ${ownerText(match)}`,
      `    ${endpointText(match.endpoint)}`,
    ]),
  ];
}

function ownerText(match: FrontendMatch | EndpointMatch): string {
  return `${match.service}, port ${portWords(match)}, ${match.family}`;
}
