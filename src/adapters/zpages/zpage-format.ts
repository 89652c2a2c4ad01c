/** The requested form of a z-page. */
export type ZpageFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'structured'; readonly syntax: 'json' | 'yaml'; readonly version: ZpageVersion };

export type ZpageVersion = 'v1alpha1' | 'v1beta1';

const GROUP = 'config.k8s.io';
const VERSIONS: readonly string[] = ['v1alpha1', 'v1beta1'] satisfies readonly ZpageVersion[];

/**
 * The form that the Accept header requests (docs/spec/server.md §9): text by default; JSON or YAML only with parameters that
 * name the version, group and kind, as in `application/json;v=v1beta1;g=config.k8s.io;as=Flagz`. Undefined if there is none.
 */
export function zpageFormat(accept: string | undefined, kind: string): ZpageFormat | undefined {
  if (accept === undefined || accept.trim() === '') return { kind: 'text' };
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (['text/plain', 'text/*', '*/*'].includes(type)) return { kind: 'text' };
    const syntax = { 'application/json': 'json', 'application/yaml': 'yaml' }[type];
    const given = new Map(parameters.map((parameter) => parameter.split('=', 2) as [string, string]));
    const version = given.get('v') ?? '';
    if (syntax === undefined || given.get('g') !== GROUP || given.get('as') !== kind.toLowerCase()) continue;
    if (VERSIONS.includes(version))
      return { kind: 'structured', syntax: syntax as 'json' | 'yaml', version: version as ZpageVersion };
  }
  return undefined;
}

/** The supported forms, for clients that requested another one. */
export function acceptedTypes(kind: string): string {
  const structured = ['json', 'yaml'].map(
    (syntax) => `application/${syntax};v=v1beta1;g=${GROUP};as=${kind}`,
  );
  return ['text/plain', ...structured].join(', ');
}
