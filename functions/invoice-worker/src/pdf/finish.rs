//! The finished file: the marks where genpdf put their numbers, in a document of our own that the same invoice always
//! gets byte for byte. Every mark is drawn once, or there is no file.

use lopdf::{Dictionary, Document, Object, Stream, StringFormat, dictionary};
use parceltrack::domain::InvoiceContent;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::macros::{format_description, offset};

use super::RenderError;
use super::design::PAGE;
use super::drawing::Drawing;
use super::embed::UsedFont;
use super::marks::Mark;
use super::placed;

/// Of 10; more is slower and hardly smaller.
const COMPRESSION: u8 = 7;

/// The file, from what genpdf wrote.
pub(super) fn file(laid_out: &[u8], marks: &[Mark], invoice: &InvoiceContent) -> Result<Vec<u8>, RenderError> {
    let laid_out = Document::load_mem(laid_out)?;
    let fonts = UsedFont::all(marks)?;
    let mut times_drawn = vec![0_u32; marks.len()];

    let mut document = Document::with_version("1.7");
    let pages_id = document.new_object_id();
    let mut font_resources = Dictionary::new();
    for font in fonts.values() {
        font_resources.set(font.resource(), font.embed(&mut document)?);
    }
    let resources = document.add_object(dictionary! { "Font" => font_resources });

    let mut identity = Sha256::new();
    let mut pages = Vec::new();
    for page in laid_out.get_pages().into_values() {
        let mut drawing = Drawing::new(&fonts);
        for place in placed::read(&laid_out.get_page_content(page)?)? {
            let mark = marks.get(place.mark.0).ok_or_else(|| lost(place.mark.0))?;
            drawing.draw(mark, place)?;
            times_drawn[place.mark.0] += 1;
        }
        let content = drawing.finish();
        identity.update(content.as_bytes());
        let content = document.add_object(compressed(Dictionary::new(), content.as_bytes()));
        let page = document.add_object(dictionary! {
            "Type" => "Page",
            "Parent" => pages_id,
            "MediaBox" => vec![0.into(), 0.into(), PAGE.0.into(), PAGE.1.into()],
            "Resources" => resources,
            "Contents" => content,
        });
        pages.push(Object::Reference(page));
    }
    if let Some(mark) = times_drawn.iter().position(|times| *times != 1) {
        return Err(lost(mark));
    }

    let count = i64::try_from(pages.len()).unwrap_or(i64::MAX);
    let tree = dictionary! { "Type" => "Pages", "Kids" => pages, "Count" => count };
    document.objects.insert(pages_id, Object::Dictionary(tree));
    let catalog = document.add_object(dictionary! {
        "Type" => "Catalog",
        "Pages" => pages_id,
        "Lang" => Object::string_literal("en-SG"),
        "ViewerPreferences" => dictionary! { "DisplayDocTitle" => true },
    });
    let information = information(invoice);
    identity.update(format!("{information:?}"));
    let information = document.add_object(information);
    let identity = Object::String(identity.finalize()[..16].to_vec(), StringFormat::Hexadecimal);
    document.trailer.set("Root", catalog);
    document.trailer.set("Info", information);
    document.trailer.set("ID", vec![identity.clone(), identity]);

    let mut file = Vec::new();
    document.save_to(&mut file).map_err(lopdf::Error::from)?;
    Ok(file)
}

fn information(invoice: &InvoiceContent) -> Dictionary {
    let mut information = dictionary! {
        "Title" => text(&format!("Tax Invoice {}", invoice.number)),
        "Author" => text(invoice.seller.name.as_str()),
        "Subject" => text(&format!("Parcel {}", invoice.tracking_number)),
        "Creator" => text("ParcelTrack"),
        "Producer" => text("ParcelTrack with genpdf and lopdf"),
    };
    if let Some(date) = date(invoice) {
        information.set("CreationDate", Object::string_literal(date.clone()));
        information.set("ModDate", Object::string_literal(date));
    }
    information
}

/// The time of issue, in Singapore.
fn date(invoice: &InvoiceContent) -> Option<String> {
    let issued = OffsetDateTime::from_unix_timestamp(invoice.created_at.seconds()).ok()?.to_offset(offset!(+8));
    let format = format_description!("D:[year][month][day][hour][minute][second]+08'00'");
    issued.format(format).ok()
}

/// Text outside of pages, in UTF-16 as PDF wants all that is not Latin.
fn text(text: &str) -> Object {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    Object::String(units.flat_map(u16::to_be_bytes).collect(), StringFormat::Hexadecimal)
}

/// A stream, compressed the same on every machine.
pub(super) fn compressed(mut dictionary: Dictionary, content: &[u8]) -> Stream {
    let content = miniz_oxide::deflate::compress_to_vec_zlib(content, COMPRESSION);
    dictionary.set("Filter", "FlateDecode");
    Stream::new(dictionary, content)
}

fn lost(mark: usize) -> RenderError {
    RenderError::Lost { mark }
}
