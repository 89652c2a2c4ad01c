import { grouped } from '../../../domain/model/maps.js';
import type { UnknownName } from '../status/service-row.js';

/** The names that no node which answered knows. What one knows, exists. */
export function unknownEverywhere(answers: readonly (readonly UnknownName[])[]): readonly UnknownName[] {
  const byName = grouped(answers.flat(), ({ name }) => name);
  return [...byName.values()].flatMap((same) => (same.length === answers.length ? same.slice(0, 1) : []));
}
