//! Invoices to look at, to test and to measure with. Made up, and always the same.

use parceltrack::domain::{
    Currency, InvoiceContent, InvoiceId, InvoiceNumber, Line, Money, OwnerId, ParcelId, PostalCode, Seller, TaxCode,
    TaxRate, Text, Timestamp, TrackingNumber,
};
use uuid::Uuid;

/// The names of the samples.
pub const NAMES: [&str; 9] = [
    "one-line",
    "eight-lines",
    "forty-lines",
    "five-hundred-lines",
    "thousand-lines",
    "mixed-scripts",
    "mixed-tax",
    "export-jpy",
    "largest",
];

/// The sample of that name.
#[must_use]
pub fn named(name: &str) -> Option<InvoiceContent> {
    Some(match name {
        "one-line" => invoice("Tan Wei Ming", vec![line("Delivery of parcel LCL48291057", 1, 1250, TaxCode::Standard)]),
        "eight-lines" => eight_lines(),
        "forty-lines" => InvoiceContent { reference: Some(text("PO-2026-0117")), ..many_lines(40) },
        "five-hundred-lines" => many_lines(500),
        // More than the API allows, to measure with.
        "thousand-lines" => many_lines(1000),
        "mixed-scripts" => mixed_scripts(),
        "mixed-tax" => mixed_tax(),
        "export-jpy" => export_jpy(),
        "largest" => largest(),
        _ => return None,
    })
}

fn eight_lines() -> InvoiceContent {
    let lines = vec![
        line("Delivery of parcel LCL48291057, Changi to Jurong East", 1, 1250, TaxCode::Standard),
        line("Same-day surcharge", 1, 600, TaxCode::Standard),
        line("Collection at the sender's door", 1, 450, TaxCode::Standard),
        line("Additional weight, per started kilogram over 5 kg", 7, 120, TaxCode::Standard),
        line(
            "Signature on delivery, with photo of the parcel and of the place where it was left",
            1,
            200,
            TaxCode::Standard,
        ),
        line("Padded cardboard box, medium (40 × 30 × 25 cm)", 3, 380, TaxCode::Standard),
        line("Insurance up to S$2,000", 1, 1500, TaxCode::Exempt),
        line("Second delivery attempt", 1, 500, TaxCode::Standard),
    ];
    InvoiceContent {
        address: Some(text("Merlion Trading Pte Ltd, 60 Paya Lebar Road, #07-54 Paya Lebar Square")),
        postal_code: PostalCode::try_from("409051".to_owned()).ok(),
        reference: Some(text("PO 4500-88123 / warehouse C")),
        ..invoice("Nurul Izzah binte Rahman", lines)
    }
}

fn many_lines(count: u32) -> InvoiceContent {
    const SERVICES: [&str; 4] = [
        "Delivery within Singapore, parcel",
        "Delivery to Sentosa, fragile goods, parcel",
        "Return of an undeliverable parcel to its sender, with storage for up to fourteen days, parcel",
        "Door-to-door collection for parcel",
    ];
    let lines = (1..=count)
        .map(|number| {
            let service = SERVICES[number as usize % SERVICES.len()];
            let cents = i64::from(number * 7919 % 90_000);
            line(&format!("{service} LCL{:08}", 48_291_000 + number), 1 + number % 9, cents, TaxCode::Standard)
        })
        .collect();
    InvoiceContent {
        address: Some(text("Lau Pa Sat Wholesale Pte Ltd, 18 Raffles Quay")),
        postal_code: PostalCode::try_from("048582".to_owned()).ok(),
        ..invoice("Siti Aminah", lines)
    }
}

fn mixed_scripts() -> InvoiceContent {
    let lines = vec![
        line("Delivery of parcel to Café Søren, Nguyễn Thị Ánh", 1, 1250, TaxCode::Standard),
        line("包裹派送：樟宜至裕廊东（当日送达）", 2, 990, TaxCode::Standard),
        line("繁體中文：易碎物品，請小心輕放，謝謝", 1, 450, TaxCode::Standard),
        line("தமிழ்: சிங்கப்பூருக்குள் பொதி விநியோகம், கையொப்பத்துடன்", 1, 1500, TaxCode::Standard),
        line("Penghantaran bungkusan ke rumah, dibayar tunai ₹500, €12 atau £10", 1, 780, TaxCode::Standard),
        line("Birthday parcel 🎂🎁 with a note: “Selamat! ❤️ 👩‍🚀”", 1, 1100, TaxCode::ZeroRated),
    ];
    InvoiceContent {
        address: Some(text("新加坡牛车水珍珠坊 #03-12, Serangoon Road (சிராங்கூன் சாலை) 217959")),
        postal_code: PostalCode::try_from("217959".to_owned()).ok(),
        reference: Some(text("订单 8891 · ஆணை 12")),
        ..invoice("陈伟明 (முத்துலட்சுமி) 陳偉明", lines)
    }
}

fn mixed_tax() -> InvoiceContent {
    let lines = vec![
        line("Delivery within Singapore", 3, 1250, TaxCode::Standard),
        line("Air freight to Kuala Lumpur", 1, 18_400, TaxCode::ZeroRated),
        line("Air freight to Tokyo, including fuel surcharge", 2, 31_050, TaxCode::ZeroRated),
        line("Interest on late payment", 1, 735, TaxCode::Exempt),
    ];
    invoice("Wong & Sons (Exports)", lines)
}

fn export_jpy() -> InvoiceContent {
    let lines = vec![
        line("Air freight Singapore – Osaka, 12 kg", 1, 18_400, TaxCode::ZeroRated),
        line("Customs handling, 大阪税関", 1, 5_500, TaxCode::ZeroRated),
    ];
    InvoiceContent {
        currency: Currency::Jpy,
        payment_terms_days: 0,
        address: Some(text("大阪府大阪市北区梅田3丁目1番3号")),
        ..invoice("株式会社サンプル商事 山田太郎", lines)
    }
}

/// Every field as long as it may be, of the widest letters.
fn largest() -> InvoiceContent {
    let seller = Seller {
        name: text(&"W".repeat(100)),
        address: text(&"W".repeat(300)),
        gst_number: text(&"W".repeat(20)),
        registration_number: text(&"W".repeat(20)),
        email: address(&format!("{}@{}.example", "w".repeat(64), "w".repeat(63))),
    };
    let lines = vec![
        line(&"W".repeat(200), 10_000, 10_000, TaxCode::Standard),
        line(&"陈".repeat(200), 1, 100_000_000, TaxCode::ZeroRated),
        line(&"W".repeat(200), 1, 100_000_000, TaxCode::Exempt),
    ];
    InvoiceContent {
        address: Some(text(&"W".repeat(300))),
        reference: Some(text(&"W".repeat(100))),
        email: seller.email.clone(),
        payment_terms_days: u16::MAX,
        seller,
        ..invoice(&"W".repeat(200), lines)
    }
}

/// An invoice of 1 January 2026 in Singapore, which was still 2025 in Greenwich.
///
/// # Panics
/// If the name is none that an invoice may have.
#[must_use]
pub fn invoice(recipient: &str, lines: Vec<Line>) -> InvoiceContent {
    let (parcel_id, created_at) = (ParcelId(Uuid::nil()), Timestamp::from_millis(1_767_198_600_000));
    let tracking_number: TrackingNumber = "LCL48291057".parse().expect("a tracking number");
    InvoiceContent {
        id: InvoiceId::of_parcel(parcel_id),
        number: InvoiceNumber::new(created_at, &tracking_number),
        parcel_id,
        owner: OwnerId::house(),
        tracking_number,
        recipient: text(recipient),
        email: address("customer@example.com"),
        address: None,
        postal_code: None,
        reference: None,
        seller: Seller {
            name: text("Lion City Logistics Pte Ltd"),
            address: text("8 Changi South Street 1, Singapore 486111"),
            gst_number: text("M9-0001234-5"),
            registration_number: text("201912345K"),
            email: address("billing@lioncity.example"),
        },
        lines,
        currency: Currency::Sgd,
        tax_rate: TaxRate::GST,
        payment_terms_days: 14,
        created_at,
    }
}

/// A line of an invoice, its price in minor units.
///
/// # Panics
/// If an invoice may not have such a description or amount.
#[must_use]
pub fn line(description: &str, quantity: u32, price: i64, tax_code: TaxCode) -> Line {
    let unit_price = Money::from_minor(price);
    let amount = unit_price.times(quantity).expect("an amount that can be said");
    Line { description: text(description), quantity, unit_price, amount, tax_code }
}

fn text<const MAX: usize>(text: &str) -> Text<MAX> {
    Text::try_from(text.to_owned()).expect("a text within its bounds")
}

fn address(address: &str) -> parceltrack::domain::EmailAddress {
    address.parse().expect("an e-mail address")
}
