import type {
  AddressExplanation,
  EndpointMatch,
  FrontendMatch,
} from '../../../application/explain/address-explanation.js';
import { acceptedSourcesText } from '../../../application/explain/reasons.js';
import { endpointText, frontendText, statusText } from './explanation-text.js';

/** For people, several lines, each with its end. */
export function addressExplanationText(explained: AddressExplanation): string {
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
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function ownerText({ service, port, protocol, family }: FrontendMatch | EndpointMatch): string {
  return `${service}, port ${port === '' ? '(unnamed)' : port} ${protocol}, ${family}`;
}
