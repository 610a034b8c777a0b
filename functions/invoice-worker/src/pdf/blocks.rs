//! Blocks, the parts of a page that are never split, and the genpdf elements that put them on pages.

use std::collections::VecDeque;
use std::ops::Range;

use genpdf::error::{Error, ErrorKind};
use genpdf::fonts::FontCache;
use genpdf::render::Area;
use genpdf::style::Style as GenpdfStyle;
use genpdf::{Context, Element, Mm, PageDecorator, Position, RenderResult, Size};

use super::marks::{Label, MarkNumber};

/// Marks at their places within an area of a certain height. All in points, y downwards.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) height: f64,
    marks: Vec<(f64, f64, MarkNumber)>,
}

impl Block {
    pub(super) fn of_height(height: f64) -> Self {
        Self { height, marks: Vec::new() }
    }

    pub(super) fn put(&mut self, x: f64, y: f64, mark: MarkNumber) {
        self.marks.push((x, y, mark));
    }

    /// Text that begins at `x`, on the baseline `y`.
    pub(super) fn left(&mut self, x: f64, y: f64, label: Label) {
        self.put(x, y, label.mark);
    }

    /// Text that ends at `x`, on the baseline `y`.
    pub(super) fn right(&mut self, x: f64, y: f64, label: Label) {
        self.put(x - label.width, y, label.mark);
    }

    fn draw(&self, fonts: &FontCache, area: &Area<'_>) -> Result<(), Error> {
        self.marks.iter().try_for_each(|(x, y, mark)| {
            // genpdf places a text by its upper edge and lets the baseline follow from the font.
            let style = GenpdfStyle::new().with_font_size(1);
            let above = style.font(fonts).glyph_height(1);
            let place = Position::new(points(*x), points(*y) - above);
            if area.print_str(fonts, place, style, mark.0.to_string())? {
                Ok(())
            } else {
                Err(Error::new("a block is higher than its page", ErrorKind::PageSizeExceeded))
            }
        })
    }
}

impl Element for Block {
    fn render(&mut self, context: &Context, area: Area<'_>, _: GenpdfStyle) -> Result<RenderResult, Error> {
        self.draw(&context.font_cache, &area)?;
        Ok(RenderResult { size: Size::new(area.size().width, points(self.height)), has_more: false })
    }
}

/// The rows of a table on the pages that were planned for them, under a head on each.
pub(super) struct Table {
    /// One for each page that has rows.
    pub(super) heads: VecDeque<Block>,
    pub(super) rows: Vec<Block>,
    /// Which rows are on which page.
    pub(super) pages: VecDeque<Range<usize>>,
}

impl Element for Table {
    fn render(&mut self, context: &Context, mut area: Area<'_>, style: GenpdfStyle) -> Result<RenderResult, Error> {
        let mut result = RenderResult::default();
        let rows = self.pages.pop_front().unwrap_or_default();
        let mut head = if rows.is_empty() { None } else { self.heads.pop_front() };
        for block in head.iter_mut().chain(&mut self.rows[rows]) {
            let size = block.render(context, area.clone(), style)?.size;
            area.add_offset((0, size.height));
            result.size = result.size.stack_vertical(size);
        }
        result.has_more = !self.pages.is_empty();
        Ok(result)
    }
}

/// What a page has besides the content.
pub(super) struct Frame {
    /// From the upper left corner of the page.
    pub(super) marks: Block,
    /// Where the content begins and ends.
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// Draws the frames of the pages, in their order.
pub(super) struct Frames(pub(super) VecDeque<Frame>);

impl PageDecorator for Frames {
    fn decorate_page<'a>(&mut self, context: &Context, mut area: Area<'a>, _: GenpdfStyle) -> Result<Area<'a>, Error> {
        let Some(frame) = self.0.pop_front() else {
            return Err(Error::new("there are more pages than were planned", ErrorKind::PageSizeExceeded));
        };
        frame.marks.draw(&context.font_cache, &area)?;
        area.add_offset((points(frame.left), points(frame.top)));
        area.set_height(points(frame.bottom - frame.top));
        Ok(area)
    }
}

fn points(points: f64) -> Mm {
    Mm::from(points * 25.4 / 72.0)
}
