import { useEffect, useState } from 'preact/hooks';

/** Pixels, as in page.css. */
const ROW_HEIGHT = 34;
const NARROW_ROW_HEIGHT = 60;
const NARROW = '(max-width: 44rem)';

/** How high the rows of grids are in this window. */
export function useRowHeight(): number {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const follow = (): void => setNarrow(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return narrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT;
}
